//! The words of one text, taken out by name; what is left over at the end is a mistake.

use super::{TextError, Unclosed, Words};
use std::cell::RefCell;

/// `kind name=value name=value ...`
pub struct Fields<'a> {
    /// What the text describes, for sentences: "torus", "pattern `soa`".
    of: String,
    pub kind: &'a str,
    pub kind_at: usize,
    fields: Vec<Field<'a>>,
    asked: RefCell<Vec<&'static str>>,
    end: usize,
}

#[derive(Clone, Copy)]
struct Field<'a> {
    name: &'a str,
    value: &'a str,
    at: usize,
    value_at: usize,
}

impl<'a> Fields<'a> {
    pub fn parse(what: &'static str, example: &str, text: &'a str) -> Result<Self, TextError> {
        let unclosed = |Unclosed { opening, at }| TextError::Unclosed { opening, at };
        let mut words = Words::new(text);
        let Some(first) = words.next_word().map_err(unclosed)? else {
            return Err(TextError::Empty { what, expects: format!("for example `{example}`") });
        };
        if first.value.is_some() {
            return Err(TextError::BadValue {
                word: what.to_owned(),
                value: first.name.to_owned(),
                expects: format!("a kind as its first word, for example `{example}`"),
                at: first.at,
            });
        }
        let mut fields: Vec<Field<'_>> = Vec::new();
        while let Some(word) = words.next_word().map_err(unclosed)? {
            let name = word.name.to_owned();
            let value = word.value.ok_or(TextError::NoValue { word: name.clone(), at: word.at })?;
            if fields.iter().any(|f| f.name == word.name) {
                return Err(TextError::Twice { word: name, at: word.at });
            }
            fields.push(Field { name: word.name, value, at: word.at, value_at: word.value_at });
        }
        let of = format!("{} {what}", first.name);
        let asked = RefCell::new(Vec::new());
        Ok(Self { of, kind: first.name, kind_at: first.at, fields, asked, end: text.trim_end().len() })
    }

    pub fn unknown_kind(&self, what: &'static str, known: &[&'static str]) -> TextError {
        TextError::UnknownKind {
            what,
            kind: self.kind.to_owned(),
            nearest: super::nearest(self.kind, known.iter().copied()),
            known: known.to_vec(),
            at: self.kind_at,
        }
    }

    /// The value of `name`, read by `read`, if the text has it.
    pub fn optional<T>(
        &self,
        name: &'static str,
        expects: &str,
        read: impl FnOnce(&'a str) -> Option<T>,
    ) -> Result<Option<T>, TextError> {
        self.asked.borrow_mut().push(name);
        let Some(field) = self.fields.iter().find(|f| f.name == name) else {
            return Ok(None);
        };
        read(field.value).map(Some).ok_or_else(|| self.bad(name, expects))
    }

    pub fn required<T>(
        &self,
        name: &'static str,
        expects: &'static str,
        read: impl FnOnce(&'a str) -> Option<T>,
    ) -> Result<T, TextError> {
        self.optional(name, expects, read)?.ok_or_else(|| TextError::Missing {
            of: self.of.clone(),
            word: name,
            expects,
            at: self.end,
        })
    }

    /// The value of `name` as it stands, for a sentence about it.
    pub fn bad(&self, name: &str, expects: &str) -> TextError {
        let field = self.fields.iter().find(|f| f.name == name);
        TextError::BadValue {
            word: name.to_owned(),
            value: field.map_or("", |f| f.value).to_owned(),
            expects: expects.to_owned(),
            at: field.map_or(self.end, |f| f.value_at),
        }
    }

    /// To be called when everything has been asked for.
    pub fn finish(self) -> Result<(), TextError> {
        let known = self.asked.into_inner();
        match self.fields.iter().find(|f| !known.contains(&f.name)) {
            None => Ok(()),
            Some(f) => Err(TextError::UnknownWord { of: self.of, word: f.name.to_owned(), known, at: f.at }),
        }
    }
}
