//! What ranks tell each other when they plan, as bytes: 64-bit words, little-endian. Invariant: what is read back is
//! what was written, or an error; a message is never trusted to be whole.

use sago_core::declare::{Outline, Pattern, Span, Summary};
use sago_core::extent::Run;

/// A message that is cut off, or says something impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Garbled;

#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub fn word(&mut self, word: u64) -> &mut Self {
        self.bytes.extend_from_slice(&word.to_le_bytes());
        self
    }

    pub fn summary(&mut self, summary: &Summary) -> &mut Self {
        let Summary { start, end, bytes, pieces, pattern } = *summary;
        self.word(start).word(end).word(bytes).word(pieces).word(pattern as u64)
    }

    pub fn outline(&mut self, outline: &Outline) -> &mut Self {
        self.word(outline.spans().len() as u64);
        for Span { start, end, bytes } in outline.spans() {
            self.word(*start).word(*end).word(*bytes);
        }
        self
    }

    pub fn runs(&mut self, runs: &[Run]) -> &mut Self {
        self.word(runs.len() as u64);
        for run in runs {
            self.word(run.offset()).word(run.len()).word(run.stride()).word(run.count());
        }
        self
    }

    /// A writer that uses a buffer again.
    pub fn onto(mut bytes: Vec<u8>) -> Self {
        bytes.clear();
        Self { bytes }
    }

    /// To append to.
    pub fn bytes_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

#[derive(Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// What has not been read.
    pub const fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn word(&mut self) -> Result<u64, Garbled> {
        let (word, rest) = self.bytes.split_first_chunk::<8>().ok_or(Garbled)?;
        self.bytes = rest;
        Ok(u64::from_le_bytes(*word))
    }

    pub fn summary(&mut self) -> Result<Summary, Garbled> {
        let (start, end, bytes, pieces) = (self.word()?, self.word()?, self.word()?, self.word()?);
        let pattern = Pattern::from_number(self.word()?).ok_or(Garbled)?;
        Ok(Summary { start, end, bytes, pieces, pattern })
    }

    pub fn outline(&mut self) -> Result<Outline, Garbled> {
        let count = self.count(3)?;
        let span = |this: &mut Self| Ok(Span { start: this.word()?, end: this.word()?, bytes: this.word()? });
        let spans = (0..count).map(|_| span(self)).collect::<Result<Vec<_>, Garbled>>()?;
        Outline::from_spans(spans).ok_or(Garbled)
    }

    pub fn runs(&mut self) -> Result<Vec<Run>, Garbled> {
        let count = self.count(4)?;
        let run = |this: &mut Self| {
            Run::strided(this.word()?, this.word()?, this.word()?, this.word()?).ok_or(Garbled)
        };
        (0..count).map(|_| run(self)).collect()
    }

    /// A number of items of so many words each, which must be there.
    fn count(&mut self, words: usize) -> Result<usize, Garbled> {
        let count = usize::try_from(self.word()?).map_err(|_| Garbled)?;
        if count > self.bytes.len() / (8 * words) { Err(Garbled) } else { Ok(count) }
    }
}
