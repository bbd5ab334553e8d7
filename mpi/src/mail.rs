//! Records between pairs of ranks on different nodes: sent without waiting, received when looked for, in order.
//!
//! [`Lanes`] carry them one-sidedly: each rank's window has a ring for each partner; the partner puts its records
//! there, flushes, and raises a counter; the reader gives room back by a counter in the writer's window. A counter has one
//! writer, never goes back, and is no atomic of the node's own. Where there are no windows, messages do the same.
//!
//! Invariant: a record's bytes are put before the counter that tells of them is raised, and no byte of a ring is put
//! again before its reader has given it back.

use crate::error::Error;
use crate::transport::{Parts, Put, Transport, Window, check_rank};

/// One rank's end of the records between it and its partners.
pub trait Mail {
    /// The longest record that can be sent to a partner.
    fn record_bytes_max(&self, to: usize) -> usize;

    /// Sends a record; `false` if there is no room now. It may wait for [`Mail::push`] before it leaves.
    fn send(&mut self, to: usize, record: &[u8]) -> Result<bool, Error>;

    /// Lets what was sent leave.
    fn push(&mut self) -> Result<(), Error>;

    /// The next record that has arrived, and from whom.
    fn receive(&mut self) -> Result<Option<(usize, &[u8])>, Error>;

    /// Tells all partners that this rank gives up. Waits for nobody, whether there is room for records or not.
    fn alarm(&mut self) -> Result<(), Error>;

    /// Whether a partner has given up since the last [`Mail::calm`]. It may show only once all records that have arrived
    /// are received.
    fn alarmed(&mut self) -> Result<bool, Error>;

    /// Alarms up to now are over. All ranks call it equally often, between two meetings of all of them, and none looks for
    /// records meanwhile.
    fn calm(&mut self) -> Result<(), Error>;

    /// The memory that it holds on this rank.
    fn memory_bytes(&self) -> usize;

    /// Collective: gives the memory back. Records that nobody has received are lost.
    fn close(self: Box<Self>) -> Result<(), Error>;
}

const WORD: usize = 8;
/// Each rank's window starts with the number of alarms that partners have raised.
const ALARMS: usize = 0;
/// Then come the words for each partner.
const WORDS: usize = 64;
/// Instead of a record's length: the next one is at the ring's start.
const TO_THE_START: u64 = u64::MAX;
/// The ring that a record of some length needs; see [`Lane::give_back`].
const RECORDS_PER_RING: usize = 4;

pub struct Lanes {
    group: Box<dyn Transport>,
    window: Box<dyn Window>,
    lanes: Vec<Lane>,
    /// Where to look next.
    next: usize,
    bytes: usize,
    /// Alarms that are over.
    alarms: u64,
}

/// To and from one partner.
#[derive(Debug, Default)]
struct Lane {
    partner: usize,
    /// In the partner's window.
    there: Place,
    /// In ours.
    here: Place,
    /// Bytes put into the partner's ring, and told of.
    sent: u64,
    told: u64,
    /// Bytes of our ring that have been read, and given back.
    taken: u64,
    returned: u64,
    /// The record that the caller is looking at.
    open: u64,
}

/// Where a rank has what it needs for a partner.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// How many bytes the partner has put into the ring.
    head: usize,
    /// How many bytes of its own ring the partner has given back.
    tail: usize,
    ring: usize,
    ring_bytes: usize,
}

impl Lanes {
    /// Collective. Partners are mutual, sorted, and `record_bytes` may differ from rank to rank.
    pub fn new(group: &dyn Transport, partners: &[usize], record_bytes: usize) -> Result<Self, Error> {
        let ring_bytes = (RECORDS_PER_RING * (record_bytes + WORD)).next_multiple_of(64);
        let rings = (WORDS + 2 * WORD * partners.len()).next_multiple_of(64);
        let place = |number: usize| Place {
            head: WORDS + 2 * WORD * number,
            tail: WORDS + 2 * WORD * number + WORD,
            ring: rings + ring_bytes * number,
            ring_bytes,
        };
        let own = group.split(Some(0), u32::try_from(group.rank()).unwrap_or(u32::MAX))?;
        let group = own.ok_or(Error::NoSuchRank { rank: group.rank(), size: group.size() })?;
        let mut messages = vec![Vec::new(); group.size()];
        for (number, &partner) in partners.iter().enumerate() {
            check_rank(partner, group.size())?;
            messages[partner] = place(number).tell();
        }
        let told = group.alltoall(&messages.iter().map(Vec::as_slice).collect::<Parts>())?;
        let lanes = partners.iter().enumerate().map(|(number, &partner)| {
            let there = Place::read(told.part(partner))?;
            Some(Lane { partner, there, here: place(number), ..Lane::default() })
        });
        let lanes = lanes.collect::<Option<Vec<Lane>>>();
        group.agree(if lanes.is_some() { Ok(()) } else { Err("partners are not mutual".to_owned()) })?;
        let bytes = if partners.is_empty() { 0 } else { rings + ring_bytes * partners.len() };
        let window = match group.window(bytes) {
            Ok(window) => window,
            Err(error) => {
                // There are no windows here, as all ranks have found; so they can give the group back.
                let _ = group.close();
                return Err(error);
            }
        };
        Ok(Self { group, window, lanes: lanes.unwrap_or_default(), next: 0, bytes, alarms: 0 })
    }

    fn lane(&self, rank: usize) -> Result<usize, Error> {
        let missing = Error::NoSuchRank { rank, size: self.group.size() };
        self.lanes.binary_search_by_key(&rank, |lane| lane.partner).map_err(|_| missing)
    }
}

impl Mail for Lanes {
    fn record_bytes_max(&self, to: usize) -> usize {
        self.lane(to).map_or(0, |at| self.lanes[at].there.ring_bytes / RECORDS_PER_RING - WORD)
    }

    fn send(&mut self, to: usize, record: &[u8]) -> Result<bool, Error> {
        let (at, window) = (self.lane(to)?, &self.window);
        let lane = &mut self.lanes[at];
        let ring = lane.there.ring_bytes as u64;
        let len = (WORD + record.len()).next_multiple_of(WORD) as u64;
        let at = lane.sent % ring;
        let skipped = if at + len > ring { ring - at } else { 0 };
        let free = ring - (lane.sent - window.counter(lane.here.tail)?);
        if skipped + len > free {
            return Ok(false);
        }
        let place = |at: u64| lane.there.ring + at as usize;
        let start = place((at + skipped) % ring);
        let (word, skip) = ((record.len() as u64).to_le_bytes(), TO_THE_START.to_le_bytes());
        let puts = [
            Put { to, offset: start, bytes: &word },
            Put { to, offset: start + WORD, bytes: record },
            Put { to, offset: place(at), bytes: &skip },
        ];
        window.put(&puts[..if skipped > 0 { 3 } else { 2 }])?;
        lane.sent += skipped + len;
        Ok(true)
    }

    fn push(&mut self) -> Result<(), Error> {
        for lane in self.lanes.iter_mut().filter(|lane| lane.sent > lane.told) {
            self.window.flush(lane.partner)?;
            self.window.fetch_add(lane.partner, lane.there.head, lane.sent - lane.told)?;
            lane.told = lane.sent;
        }
        Ok(())
    }

    fn receive(&mut self) -> Result<Option<(usize, &[u8])>, Error> {
        for step in 0..self.lanes.len() {
            let at = (self.next + step) % self.lanes.len();
            let lane = &mut self.lanes[at];
            lane.give_back(&*self.window)?;
            if self.window.counter(lane.here.head)? == lane.taken {
                continue;
            }
            let range = lane.open(&*self.window)?;
            // The partner that is looked at next time is this one, whose record is given back then.
            self.next = at;
            // SAFETY: the partner puts nothing here before the record has been given back.
            return Ok(Some((lane.partner, unsafe { self.window.bytes(range) }?)));
        }
        Ok(None)
    }

    fn alarm(&mut self) -> Result<(), Error> {
        let tell = |lane: &Lane| self.window.fetch_add(lane.partner, ALARMS, 1).map(|_| ());
        self.lanes.iter().try_for_each(tell)
    }

    fn alarmed(&mut self) -> Result<bool, Error> {
        Ok(!self.lanes.is_empty() && self.window.counter(ALARMS)? != self.alarms)
    }

    fn calm(&mut self) -> Result<(), Error> {
        if !self.lanes.is_empty() {
            self.alarms = self.window.counter(ALARMS)?;
        }
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        self.bytes
    }

    fn close(self: Box<Self>) -> Result<(), Error> {
        self.group.barrier()?;
        self.window.free()?;
        self.group.close()
    }
}

impl Lane {
    /// The place of the next record's bytes in our window; there is one.
    fn open(&mut self, window: &dyn Window) -> Result<std::ops::Range<usize>, Error> {
        let ring = self.here.ring_bytes as u64;
        let mut word = [0; WORD];
        window.read(self.here.ring + (self.taken % ring) as usize, &mut word)?;
        if u64::from_le_bytes(word) == TO_THE_START {
            self.taken += ring - self.taken % ring;
            window.read(self.here.ring, &mut word)?;
        }
        let len = u64::from_le_bytes(word);
        let start = self.here.ring + (self.taken % ring) as usize + WORD;
        self.open = (WORD as u64).saturating_add(len).next_multiple_of(WORD as u64);
        Ok(start..start.saturating_add(usize::try_from(len).unwrap_or(usize::MAX)))
    }

    /// Gives back the record that was looked at; tells the partner when a quarter of the ring has come together. A record
    /// is at most a quarter, and skips less than its own length: what is not yet told never keeps it out.
    fn give_back(&mut self, window: &dyn Window) -> Result<(), Error> {
        self.taken += self.open;
        self.open = 0;
        if self.taken - self.returned >= (self.here.ring_bytes / RECORDS_PER_RING) as u64 {
            window.fetch_add(self.partner, self.there.tail, self.taken - self.returned)?;
            self.returned = self.taken;
        }
        Ok(())
    }
}

impl Place {
    fn tell(self) -> Vec<u8> {
        let words = [self.head, self.tail, self.ring, self.ring_bytes];
        words.iter().flat_map(|word| (*word as u64).to_le_bytes()).collect()
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (words, []) = bytes.as_chunks::<WORD>() else { return None };
        let word = |at: usize| words.get(at).and_then(|w| usize::try_from(u64::from_le_bytes(*w)).ok());
        Some(Self { head: word(0)?, tail: word(1)?, ring: word(2)?, ring_bytes: word(3)? })
    }
}
