//! Opening a file for capture. Everything that the ranks decide here they decide together, so that all capture or none.

use super::crew::Crew;
use super::file::{CapturedFile, Opening};
use super::hints;
use super::presence::Presence;
use super::progress::Watched;
use super::provoke;
use super::reason::Reason;
use super::record::Record;
use super::twins;
use crate::below::Below;
use crate::report;
use crate::state::State;
use sago_core::config::{Config, Layers, Mode};
use sago_core::plan::{Medium, StorageFacts};
use sago_hdf5::handle::PropertyList;
use sago_hdf5::library::ParallelFunctions;
use sago_hdf5::sys::*;
use sago_hdf5::{Error, Library, error};
use sago_mpi::{Mpi, Newcomers, Options, RawComm, RawInfo, Reduce, Transport};
use sago_storage::{Access, FileSystem, Node, PosixFile};
use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A window is not larger than this unless the options say so.
const WINDOW_BYTES_MAX: u64 = 256 << 20;
const WINDOW_BYTES_MIN: u64 = 4 << 20;

/// What opens a file.
pub struct Request<'r> {
    pub below: &'r Below,
    pub name: &'r str,
    pub writable: bool,
    pub fapl: hid_t,
}

/// The ranks that are about to open a file, and the options that they have.
pub struct Gathered {
    crew: Crew,
    options: Layers,
    /// On this rank it is open in another way already.
    twins: bool,
}

/// Before a file is opened: its ranks meet, those also whose options cannot be read; if there are any, nobody opens it.
/// Collective over those who open the file, if they do it with MPI.
pub fn gather(
    library: &'static Library,
    (name, writable): (&str, bool),
    fapl: hid_t,
    options: Option<&Layers>,
) -> Result<Result<Gathered, Reason>, Error> {
    let state = State::of(library);
    if state.has_refused_mpi() {
        return Ok(Err(Reason::NoMpi));
    }
    let Some((comm, info)) = communicator(library, fapl) else { return Ok(Err(Reason::NotMpio)) };
    // SAFETY: the handle of a library that is never unloaded.
    let mpi = unsafe { Mpi::behind(library.handle()) };
    let Some(mpi) = mpi.ok().filter(|mpi| mpi.is_understood()) else {
        // What HDF5 has duplicated for us cannot be given back; so it is not asked again.
        state.refuse_mpi();
        return Ok(Err(Reason::NoMpi));
    };
    // SAFETY: HDF5 has duplicated the program's hints for us, and we were called by a thread that may call MPI.
    let pairs = unsafe { mpi.take_info(info) };
    let mut options = options.cloned();
    let complaints = options.as_mut().map(|options| hints::add(library, &pairs, options));
    let crew = match crew(library, options.as_ref(), mpi, comm)? {
        Ok(crew) => crew,
        Err(reason) => return Ok(Err(reason)),
    };
    if let Some(complaints) = complaints.filter(|_| crew.ranks.rank() == 0) {
        hints::complain(library, &complaints);
    }
    let Some(options) = options else { return Ok(Err(Reason::Unknown)) };
    Ok(match sago_exec::has_room(&crew.ranks, options.config()) {
        Ok(true) => {
            // It may be about to be emptied.
            let twins = twins::meet(library, name, crew.group, writable);
            Ok(Gathered { crew, options, twins })
        }
        Ok(false) => {
            crew.keep(library);
            Err(Reason::Machine)
        }
        Err(_) => Err(Reason::NoMpi),
    })
}

impl Gathered {
    /// The file has not been opened, perhaps on this rank only: so they do not meet for it.
    pub fn part(self, library: &'static Library) {
        State::of(library).keep_crew(self.crew);
    }
}

/// The state for the file that the connector below has opened as `object`; the one that is there already if the file was
/// open. Collective over the ranks that open the file.
///
/// # Safety
/// `object` is an open file of the connector below.
pub unsafe fn open(
    request: &Request<'_>,
    Gathered { mut crew, mut options, twins }: Gathered,
    object: *mut c_void,
) -> Result<Arc<CapturedFile>, Reason> {
    let library = request.below.library;
    // All ranks have the same options, which name it.
    if !request.below.is_native() {
        crew.keep(library);
        return Err(Reason::ConnectorBelow);
    }
    // SAFETY: the caller's promise.
    let number = unsafe { number(request.below, object) };
    let known = number.and_then(|number| State::of(library).file(number));
    let path = path_of(request.name);
    let access = if request.writable { Access::Write } else { Access::Read };
    let storage = path.as_ref().and_then(|path| PosixFile::open(path, access).ok());
    // As the first rank sees it: all must plan with the same facts.
    let facts = path.as_ref().filter(|_| crew.ranks.rank() == 0).map(|path| found(path));
    let local = facts.as_ref().is_some_and(|facts| facts.local);
    let votes =
        Votes { storage: storage.is_some(), number: number.is_some(), known: known.is_some(), twins, facts };
    let together = match votes.agree(&crew.ranks, options.config()).map_err(|_| Reason::NoMpi)? {
        Ok(together) if known.is_none() => together,
        judged => {
            crew.keep(library);
            return judged.and(known.ok_or(Reason::NoSuchFile));
        }
    };
    let (Some(number), Some(storage), Some(path)) = (number, storage, path) else {
        return Err(Reason::NoSuchFile);
    };
    let Together { window_bytes, facts, twins: somewhere } = together;
    hints::add_facts(facts, &mut options);
    let config = options.config();
    // Before the ranks meet: who is alone in the file meanwhile must be done when any of them writes.
    let present = request.writable && local;
    let presence = if present { storage.handle().and_then(Presence::of).ok() } else { None };
    let ready = crew.prepare(config, facts, window_bytes);
    let all_ready = crew.ranks.agree(ready.map_err(|error| error.to_string()));
    if all_ready.is_err() {
        crew.keep(library);
        return Err(Reason::NoMemory);
    }
    let inode = storage.inode().ok();
    let storage = provoke::storage(storage, crew.ranks.rank());
    let (record, storage) = Record::begin(&options, &path, storage, &mut crew);
    let watched = config.verbose && request.writable && crew.ranks.rank() == 0;
    let progress = watched.then(|| Watched::on_terminal(&storage, request.name)).flatten();
    let storage = progress.clone().map_or(storage, |watched| watched);
    let opening = Opening {
        library,
        number,
        name: request.name.to_owned(),
        mode: if somewhere { Mode::Immediate } else { config.mode },
        collective_metadata: collective_metadata(library, request.fapl),
        metadata_together: metadata_together(library, request.fapl),
        writable: request.writable,
        // SAFETY: the caller's promise.
        chunks_misplaced: unsafe { are_chunks_misplaced(request.below, object) },
        group: crew.group,
        inode,
        presence: presence.map(Arc::new),
        storage,
        record,
        progress,
    };
    if config.verbose && State::of(library).first_file() && crew.ranks.rank() == 0 {
        report::greet(library, request.name, config.mode, crew.ranks.size(), window_bytes);
    }
    let file = Arc::new(CapturedFile::new(opening, crew));
    if twins {
        file.set_twins();
    }
    State::of(library).add_file(&file);
    Ok(file)
}

/// The members of a communicator that HDF5 has duplicated for us; those who closed a file before, if all of them are and
/// still know of it. Which options and crews a rank has may differ, so the ranks agree on them: also one whose options
/// say that nothing is captured takes part, and one that has no options. An error if there is such a one.
fn crew(
    library: &'static Library,
    options: Option<&Layers>,
    mpi: &'static Mpi,
    comm: RawComm,
) -> Result<Result<Crew, Reason>, Error> {
    let state = State::of(library);
    // SAFETY: HDF5 has duplicated the program's communicator for us, and we were called by a thread that may call MPI.
    let newcomers = unsafe { Newcomers::new(mpi, comm, Options::default()) };
    let Ok(newcomers) = newcomers else { return Ok(Err(Reason::NoMpi)) };
    let kept = state.take_crew(|crew| newcomers.are(&crew.ranks));
    let (id, next) = (kept.as_ref().map_or(0, |crew| crew.id), state.next_crew());
    let off = options.is_some_and(|options| options.config().mode == Mode::Off);
    let unread = if options.is_none() { newcomers.rank() as u64 + 1 } else { 0 };
    let options = options.map_or(0, |options| hash(options.config().to_string().as_bytes()));
    let mut votes = [id, !id, next, options, !options, unread];
    if newcomers.allreduce(Reduce::Max, &mut votes).is_err() {
        return Ok(Err(Reason::NoMpi));
    }
    let [most, least, next, most_options, least_options, unread] = votes;
    state.crew_made(next);
    let refusal = if unread != 0 {
        Some(Reason::OptionsUnread)
    } else if most_options != !least_options {
        Some(Reason::OptionsDiffer)
    } else {
        off.then_some(Reason::Off)
    };
    let made = match (refusal, kept) {
        (None, Some(kept)) if most == !least => newcomers.leave().map(|()| Ok(kept)),
        (refusal, kept) => {
            kept.into_iter().for_each(|crew| state.keep_crew(crew));
            match refusal {
                Some(reason) => newcomers.leave().map(|()| Err(reason)),
                None => make_crew(newcomers, next),
            }
        }
    };
    match made.unwrap_or(Err(Reason::NoMpi)) {
        Err(Reason::OptionsUnread) => {
            let rank = unread - 1;
            Err(Error::Message(format!("{}: of rank {rank}, which says why", Reason::OptionsUnread)))
        }
        made => Ok(made),
    }
}

/// Collective.
fn make_crew(newcomers: Newcomers, id: u64) -> Result<Result<Crew, Reason>, sago_mpi::Error> {
    let ranks = newcomers.settle()?;
    let mut sums = [process_hash(), u64::from(ranks.is_world())];
    ranks.allreduce(Reduce::Sum, &mut sums)?;
    let (size, [processes, in_world]) = (ranks.size() as u64, sums);
    Ok(Crew::new(id, processes ^ size, ranks, in_world == size).map_err(|_| Reason::NoMemory))
}

/// The communicator and the hints in a file access list, duplicated for us, if its driver is that of MPI-IO.
fn communicator(library: &'static Library, fapl: hid_t) -> Option<(RawComm, RawInfo)> {
    let parallel = library.parallel.as_ref()?;
    let (mut comm, mut info) = (0, 0);
    error::quietly(library, || {
        // SAFETY: places with room for a communicator and hints of any MPI.
        unsafe { (parallel.H5Pget_fapl_mpio)(fapl, &mut comm, &mut info) >= 0 }
    })
    .then_some((RawComm(comm), RawInfo(info)))
}

/// Whether an access list asks for metadata to be read by all ranks together.
pub fn collective_metadata(library: &'static Library, list: hid_t) -> bool {
    asks(library, list, |parallel| parallel.H5Pget_all_coll_metadata_ops)
}

/// Whether one asks for metadata to be written by all ranks together.
fn metadata_together(library: &'static Library, list: hid_t) -> bool {
    asks(library, list, |parallel| parallel.H5Pget_coll_metadata_write)
}

type Getter = unsafe extern "C" fn(hid_t, *mut bool) -> herr_t;

fn asks(library: &'static Library, list: hid_t, getter: fn(&ParallelFunctions) -> Getter) -> bool {
    let mut asked = false;
    let Some(parallel) = library.parallel.as_ref() else { return false };
    // SAFETY: HDF5 checks the identifier; a place to write to.
    error::quietly(library, || unsafe { getter(parallel)(list, &mut asked) });
    asked
}

/// By which HDF5 knows the file in this process.
///
/// # Safety
/// `object` is an open file of the connector below.
pub unsafe fn number(below: &Below, object: *mut c_void) -> Option<u64> {
    let mut number = 0;
    let mut args = H5VL_file_get_args_t {
        op_type: H5VL_file_get_t_H5VL_FILE_GET_FILENO,
        // SAFETY: plain numbers and pointers, for which zero is a value; the one that is used is set below.
        args: unsafe { std::mem::zeroed() },
    };
    args.args.get_fileno.fileno = &mut number;
    // SAFETY: the caller's promise.
    let code = unsafe { below.class().file_cls.get?(object, &mut args, H5P_DEFAULT, std::ptr::null_mut()) };
    (code >= 0).then_some(number)
}

/// Whether HDF5 tells places of chunks without counting the user block, as it did before 1.14.4.
///
/// # Safety
/// `object` is an open file of the connector below.
unsafe fn are_chunks_misplaced(below: &Below, object: *mut c_void) -> bool {
    if below.library.version() >= (1, 14, 4) {
        return false;
    }
    let mut args = H5VL_file_get_args_t {
        op_type: H5VL_file_get_t_H5VL_FILE_GET_FCPL,
        // SAFETY: plain numbers and pointers, for which zero is a value.
        args: unsafe { std::mem::zeroed() },
    };
    let get = below.class().file_cls.get;
    // SAFETY: the caller's promise.
    let code = get.map_or(-1, |get| unsafe { get(object, &mut args, H5P_DEFAULT, std::ptr::null_mut()) });
    // SAFETY: the operation tells which member of the union is there.
    let list = if code < 0 { -1 } else { unsafe { args.args.get_fcpl.fcpl_id } };
    let Ok(list) = PropertyList::adopt(below.library, list) else { return true };
    let mut bytes = 0;
    // SAFETY: a live list, and a place to write to.
    let code = unsafe { (below.library.fns.H5Pget_userblock)(list.id(), &mut bytes) };
    code < 0 || bytes > 0
}

/// MPI knows file names with a prefix that names the file system; the kernel does not.
pub fn path_of(name: &str) -> Option<PathBuf> {
    let bare = match name.split_once(':') {
        Some((prefix, rest))
            if !Path::new(name).exists() && prefix.chars().all(|c| c.is_ascii_alphanumeric()) =>
        {
            rest
        }
        _ => name,
    };
    std::path::absolute(bare).ok()
}

/// As numbers; the others are told what the first rank found.
const MEDIA: [Medium; 3] = [Medium::Elsewhere, Medium::Memory, Medium::Network];

/// What a rank could do by itself, and, if it is the first, what it found.
struct Votes {
    storage: bool,
    number: bool,
    known: bool,
    /// It is open in another way.
    twins: bool,
    facts: Option<Found>,
}

/// What the first rank found out about the file system.
#[derive(Default)]
struct Found {
    facts: StorageFacts,
    incoherent: bool,
    /// No other node has the file.
    local: bool,
}

/// What the ranks have found out together.
struct Together {
    window_bytes: u64,
    facts: StorageFacts,
    /// On some rank the file is open in another way.
    twins: bool,
}

impl Votes {
    fn agree(
        &self,
        ranks: &dyn Transport,
        config: &Config,
    ) -> Result<Result<Together, Reason>, sago_mpi::Error> {
        let window = config.window_bytes.unwrap_or_else(|| window_bytes(ranks));
        let yes = [self.storage, self.number, self.known, !self.known].map(u64::from);
        let nothing = Found::default();
        let Found { facts, incoherent, .. } = self.facts.as_ref().unwrap_or(&nothing);
        let StorageFacts { stripe_bytes, targets, medium } = *facts;
        let medium = MEDIA.iter().position(|known| *known == medium).unwrap_or(0) as u64;
        let found = [stripe_bytes.unwrap_or(0), targets.map_or(0, u64::from), medium, u64::from(*incoherent)];
        let [stripe_bytes, targets, medium, incoherent] = found.map(|number| !number);
        let single = u64::from(!self.twins);
        let mut least =
            [yes[0], yes[1], yes[2], yes[3], single, window, stripe_bytes, targets, medium, incoherent];
        ranks.allreduce(Reduce::Min, &mut least)?;
        let [storage, number, known, new, single, window_bytes, found @ ..] = least;
        // Either the file was open on all ranks, or on none.
        if number == 0 || known == new || (storage == 0 && new == 1) {
            return Ok(Err(Reason::NoSuchFile));
        }
        let [stripe_bytes, targets, medium, incoherent] = found.map(|number| !number);
        if incoherent == 1 && new == 1 && !ranks.one_node() {
            return Ok(Err(Reason::Incoherent));
        }
        let facts = StorageFacts {
            stripe_bytes: Some(stripe_bytes).filter(|bytes| *bytes > 0),
            targets: u32::try_from(targets).ok().filter(|count| *count > 0),
            medium: MEDIA.get(medium as usize).copied().unwrap_or_default(),
        };
        Ok(Ok(Together { window_bytes, facts, twins: single == 0 }))
    }
}

/// This rank's share of an eighth of the memory that there is for the processes of its node.
fn window_bytes(ranks: &dyn Transport) -> u64 {
    static NODE: OnceLock<Node> = OnceLock::new();
    let node = NODE.get_or_init(Node::here);
    share(*node, ranks.size(), ranks.one_node())
}

/// Where ranks are on several nodes, nobody has counted those of this one: there are as many as processors.
fn share(node: Node, ranks: usize, one_node: bool) -> u64 {
    let processors = node.processors.filter(|_| !one_node).unwrap_or(ranks);
    let sharers = ranks.min(processors).max(1) as u64;
    (node.memory_bytes.unwrap_or(0) / 8 / sharers).clamp(WINDOW_BYTES_MIN, WINDOW_BYTES_MAX)
}

/// Differs from process to process, on any node.
fn process_hash() -> u64 {
    static PROCESS: OnceLock<u64> = OnceLock::new();
    *PROCESS.get_or_init(|| {
        let node = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        hash(format!("{node} {}", std::process::id()).as_bytes())
    })
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

/// What the file system says of itself.
fn found(path: &Path) -> Found {
    let Ok(found) = FileSystem::of(path) else { return Found::default() };
    let facts = StorageFacts {
        stripe_bytes: found.stripes.map(|stripes| stripes.size_bytes),
        targets: found.stripes.and_then(|stripes| stripes.count),
        medium: found.medium(),
    };
    Found { facts, incoherent: !found.is_coherent(), local: found.shared == Some(false) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_a_node_share_an_eighth_of_its_memory() {
        const GIB: u64 = 1 << 30;
        let node = |gib, processors| Node { memory_bytes: Some(gib * GIB), processors };
        // However few of the processors each of them may use.
        assert_eq!(share(node(128, Some(128)), 128, true), GIB / 8);
        assert_eq!(share(node(128, Some(4)), 128, true), GIB / 8);
        assert_eq!(share(node(128, Some(128)), 4096, false), GIB / 8);
        assert_eq!(share(node(128, Some(128)), 100, false), 128 * GIB / 800);
        assert_eq!(share(node(128, None), 128, false), GIB / 8);
        assert_eq!(share(node(128, Some(2)), 1, true), WINDOW_BYTES_MAX);
        assert_eq!(share(node(1, Some(2)), 1000, true), WINDOW_BYTES_MIN);
        assert_eq!(share(Node { memory_bytes: None, processors: None }, 4, true), WINDOW_BYTES_MIN);
    }
}
