//! The ranks that open a file together, with their buffers and threads. They are kept when the file is closed: the next
//! file of the same ranks finds them ready, and its buffers in memory.

use super::ahead::{Ahead, Board};
use super::overlap::Compared;
use super::window::{Region, Window};
use crate::state::State;
use sago_core::config::Config;
use sago_core::plan::StorageFacts;
use sago_exec::Session;
use sago_hdf5::Library;
use sago_mpi::{MpiRanks, Reduce, Transport};
use std::sync::Arc;

pub struct Crew {
    /// The same on all its ranks, and no other crew of any of them has it.
    pub id: u64,
    /// The same for crews of the same ranks.
    pub group: u64,
    pub ranks: MpiRanks,
    /// They are all processes of the program. The same on all.
    pub are_world: bool,
    /// Of all ranks; made at the first commit.
    pub together: Option<Session>,
    /// Of this rank alone; made when it first writes by itself.
    pub alone: Option<Session>,
    /// There if the ranks are on one node. Reads from the window, so it must go before it.
    pub ahead: Option<Ahead>,
    pub window: Window,
    /// Whether it has been tried to let ranks write together ahead of commits. The same on all ranks.
    joined: bool,
    /// They may not, since they cannot read each other's memory. The same on all ranks.
    pub memory_closed: bool,
    pub compared: Compared,
    /// What the sessions were made for.
    pub config: Config,
    pub facts: StorageFacts,
}

// SAFETY: HDF5 lets one thread in at a time, in builds for several threads by its own lock; and MPI is called by the
// thread that HDF5 was called by.
unsafe impl Send for Crew {}

impl Crew {
    pub fn new(id: u64, group: u64, ranks: MpiRanks, are_world: bool) -> std::io::Result<Self> {
        let (config, facts) = (Config::default(), StorageFacts::default());
        Ok(Self {
            id,
            group,
            are_world,
            ranks,
            together: None,
            alone: None,
            ahead: None,
            window: Window::new(Region::new(1)?),
            joined: false,
            memory_closed: false,
            compared: None,
            config,
            facts,
        })
    }

    /// Gets ready for a file. Collective, and with the same arguments on all ranks.
    pub fn prepare(
        &mut self,
        config: &Config,
        facts: StorageFacts,
        window_bytes: u64,
    ) -> std::io::Result<()> {
        // First what all ranks do together.
        let changed = (&self.config, self.facts) != (config, facts);
        if changed {
            for session in [self.together.take(), self.alone.take()].into_iter().flatten() {
                // What cannot be given back goes with the process.
                drop(session.close());
            }
            (self.config, self.facts) = (config.clone(), facts);
        }
        if self.ahead.is_none() && self.ranks.one_node() {
            // Without it the commit does all.
            self.ahead = Ahead::new(&self.ranks).ok();
        }
        if let Some(ahead) = self.ahead.as_mut().filter(|_| changed) {
            ahead.stop();
            ahead.set_board(None, 0);
            self.joined = false;
        }
        if let Some(ahead) = &mut self.ahead {
            ahead.restart();
        }
        // What may fail on some ranks only comes last.
        if self.window.capacity() != window_bytes {
            self.window = Window::new(Region::new(window_bytes)?);
        }
        self.window.clear();
        Ok(())
    }

    /// Keeps it for the next file of these ranks if each of them has room for it; else gives back what MPI has for it, of which there is not
    /// much: MPICH has 2048 communicators. Collective.
    pub fn keep(self, library: &'static Library) {
        let kept = self.can_be_kept(library).unwrap_or(true);
        self.keep_if(kept, library);
    }

    /// Whether each of the ranks has room for it. Collective.
    pub fn can_be_kept(&self, library: &'static Library) -> Result<bool, sago_mpi::Error> {
        let mut all = [u64::from(State::of(library).has_room_for_crew())];
        self.ranks.allreduce(Reduce::Min, &mut all)?;
        Ok(all[0] == 1)
    }

    /// The same when that is known.
    pub fn keep_if(self, kept: bool, library: &'static Library) {
        if kept { State::of(library).keep_crew(self) } else { self.close() }
    }

    /// What cannot be given back goes with the process. Collective.
    fn close(self) {
        let Self { ranks, together, alone, ahead, .. } = self;
        drop(ahead);
        for session in [together, alone].into_iter().flatten() {
            drop(session.close());
        }
        drop(Box::new(ranks).close());
    }

    /// Lets ranks tell each other what they write, so that what is long pieces of the file only together can go ahead of the commit.
    /// Collective, and only when nothing waits on any rank, after the collective write of this epoch.
    pub fn join(&mut self, least: u64, epoch: u64) {
        let Some(ahead) = self.ahead.as_mut().filter(|_| !std::mem::replace(&mut self.joined, true)) else {
            return;
        };
        // Without it the ranks exchange such pieces in the commit.
        let board = Board::new(&self.ranks, least, (&self.config, &self.facts));
        self.memory_closed = matches!(board, Ok(None));
        ahead.set_board(board.ok().flatten().map(Arc::new), epoch);
    }
}
