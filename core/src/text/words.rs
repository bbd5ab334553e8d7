//! Splitting a text into words.

pub(crate) struct Word<'a> {
    pub name: &'a str,
    pub value: Option<&'a str>,
    /// Where the name starts, and where the value starts.
    pub at: usize,
    pub value_at: usize,
}

/// A quote or brace that is never closed.
#[derive(Debug)]
pub(crate) struct Unclosed {
    pub opening: char,
    pub at: usize,
}

pub(crate) struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Words<'a> {
    pub const fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub fn next_word(&mut self) -> Result<Option<Word<'a>>, Unclosed> {
        let rest = &self.text[self.at..];
        let skipped = rest.find(|c| !is_separator(c)).unwrap_or(rest.len());
        let start = self.at + skipped;
        let rest = &self.text[start..];
        if rest.is_empty() {
            return Ok(None);
        }
        let name_len = rest.find(|c| c == '=' || is_separator(c)).unwrap_or(rest.len());
        self.at = start + name_len;
        let value_at = self.at + 1;
        let value = match rest[name_len..].strip_prefix('=') {
            None => None,
            Some(_) => Some(self.value(value_at)?),
        };
        Ok(Some(Word { name: &rest[..name_len], value, at: start, value_at }))
    }

    fn value(&mut self, start: usize) -> Result<&'a str, Unclosed> {
        let rest = &self.text[start..];
        let (inner, used) = match rest.chars().next() {
            Some(opening @ ('"' | '\'')) => {
                let len = rest[1..].find(opening).ok_or(Unclosed { opening, at: start })?;
                (&rest[1..1 + len], len + 2)
            }
            Some('{') => {
                let len = closing_brace(rest).ok_or(Unclosed { opening: '{', at: start })?;
                (&rest[1..len], len + 1)
            }
            _ => {
                let len = rest.find(is_separator).unwrap_or(rest.len());
                (&rest[..len], len)
            }
        };
        self.at = start + used;
        Ok(inner)
    }
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || c == ';'
}

/// The place of the `}` that closes the `{` at the start of `text`.
fn closing_brace(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.char_indices().find_map(|(at, c)| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    })
}
