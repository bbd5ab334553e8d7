//! What goes wrong in a scenario, as text: `write aggregator=2 from=1 code=28`, `target number=3 slow=20`,
//! `link class=global slow=4 since=10ms until=2s`.

use crate::time::Time;
use sago_core::text::{Fields, TextError, duration_s};
use sago_core::topology::{Link, LinkClass, Machine};

#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// A rank's requests to storage fail, from the `from`-th on.
    Write {
        who: Who,
        from: u32,
        code: i32,
    },
    Link {
        class: Option<u8>,
        from: Option<u32>,
        to: Option<u32>,
        slow: Slow,
    },
    Target {
        number: u32,
        slow: Slow,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Rank(u32),
    /// The aggregator with this number, in the order of the plan.
    Aggregator(u32),
}

/// So many times as slow, for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slow {
    pub times: f64,
    pub since: Time,
    pub until: Time,
}

const KINDS: &[&str] = &["write", "link", "target"];

impl Fault {
    pub fn parse(text: &str, machine: &Machine, targets: u32) -> Result<Self, TextError> {
        let fields = Fields::parse("fault", "target number=3 slow=20", text)?;
        let number = |text: &str| text.parse::<u32>().ok();
        let fault = match fields.kind {
            "write" => {
                let ranks = machine.ranks();
                let expects = format!("a rank below {ranks}");
                let rank = fields.optional("rank", &expects, |text| number(text).filter(|r| *r < ranks))?;
                let aggregator = fields.optional("aggregator", "the number of an aggregator", number)?;
                let who = match (rank, aggregator) {
                    (Some(rank), None) => Who::Rank(rank),
                    (None, Some(number)) => Who::Aggregator(number),
                    _ => return Err(fields.bad("rank", "either `rank=...` or `aggregator=...`")),
                };
                let from = fields.optional("from", "how many requests succeed first", number)?.unwrap_or(0);
                let code = |text: &str| text.parse().ok().filter(|c| (1..1 << 24).contains(c));
                let code = fields.optional("code", "an error number from 1", code)?.unwrap_or(5);
                Self::Write { who, from, code }
            }
            "link" => link(&fields, machine)?,
            "target" => {
                let expects = format!("a storage target below {targets}");
                let found = fields.optional("number", &expects, |text| number(text).filter(|n| *n < targets));
                let number = found?.ok_or_else(|| fields.bad("number", &expects))?;
                Self::Target { number, slow: slow(&fields)? }
            }
            _ => return Err(fields.unknown_kind("fault", KINDS)),
        };
        fields.finish()?;
        Ok(fault)
    }

    pub(crate) fn concerns_link(&self, link: Link) -> bool {
        let Self::Link { class, from, to, .. } = self else { return false };
        class.is_none_or(|class| class == link.class)
            && from.is_none_or(|from| from == link.from)
            && to.is_none_or(|to| to == link.to)
    }

    /// By how much a link is slower now.
    pub(crate) fn slows_link(&self, link: Link, now: Time) -> Option<f64> {
        match self {
            Self::Link { slow, .. } if self.concerns_link(link) => slow.at(now),
            _ => None,
        }
    }

    pub(crate) fn slows_target(&self, target: u32, now: Time) -> Option<f64> {
        match self {
            Self::Target { number, slow } if *number == target => slow.at(now),
            _ => None,
        }
    }
}

impl Slow {
    fn at(&self, now: Time) -> Option<f64> {
        (self.since <= now && now < self.until).then_some(self.times)
    }
}

fn link(fields: &Fields<'_>, machine: &Machine) -> Result<Fault, TextError> {
    let classes: Vec<LinkClass> = machine.classes();
    let names: Vec<&str> = classes.iter().map(|class| class.name).collect();
    let expects = format!("one of {}", names.join(", "));
    let class = |text: &str| names.iter().position(|name| *name == text).map(|at| at as u8);
    let class = fields.optional("class", &expects, class)?;
    let vertex = "the number of a node, or of a switch after them";
    let from = fields.optional("from", vertex, |text| text.parse().ok())?;
    let to = fields.optional("to", vertex, |text| text.parse().ok())?;
    if class.is_none() && from.is_none() && to.is_none() {
        return Err(fields.bad("class", &format!("{expects}, or a `from=...` or `to=...`")));
    }
    Ok(Fault::Link { class, from, to, slow: slow(fields)? })
}

fn slow(fields: &Fields<'_>) -> Result<Slow, TextError> {
    let times = |text: &str| text.parse().ok().filter(|times| (1.0..=1e6).contains(times));
    let times = fields.required("slow", "how many times as slow, from 1 to 1000000", times)?;
    let time = |text: &str| duration_s(text).map(Time::from_s);
    let moment = "a time with its unit, for example 10ms";
    let since = fields.optional("since", moment, time)?.unwrap_or(Time::ZERO);
    let until = fields.optional("until", moment, time)?.unwrap_or(Time(u64::MAX));
    Ok(Slow { times, since, until })
}
