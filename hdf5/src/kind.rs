//! Datatypes: which ones are plain bytes, and how a program's bytes become those of the file.

use crate::error::{Error, preserve, quietly};
use crate::library::Library;
use crate::sys::*;
use std::ffi::{CStr, CString, c_uint, c_void};

/// A datatype that we own.
#[derive(Debug)]
pub struct Kind {
    library: &'static Library,
    id: hid_t,
}

/// How elements in memory become elements of the file, or a part of each.
#[derive(Debug)]
pub enum Change {
    /// They are the same bytes.
    None,
    /// Pieces of each element move to another place in it.
    Moves(Vec<Move>),
    /// HDF5 converts them to this datatype.
    Convert(Kind),
}

/// Bytes of an element: from where in memory to where in the file's element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    pub from: usize,
    pub to: usize,
    pub len: usize,
}

/// A contiguous part of the file's elements, and how to make it.
#[derive(Debug)]
pub struct Part {
    /// Where in the element of the file.
    pub offset: u64,
    pub len: u64,
    pub change: Change,
}

impl Kind {
    /// Takes over an identifier.
    pub fn adopt(library: &'static Library, id: hid_t) -> Result<Self, Error> {
        if id >= 0 { Ok(Self { library, id }) } else { Err(Error::Reported) }
    }

    /// A copy, which is not tied to the file if the original was.
    pub fn copy_of(library: &'static Library, id: hid_t) -> Result<Self, Error> {
        // SAFETY: HDF5 checks the identifier.
        Self::adopt(library, unsafe { (library.fns.H5Tcopy)(id) })
    }

    pub fn id(&self) -> hid_t {
        self.id
    }

    pub fn bytes(&self) -> usize {
        bytes(self.library, self.id)
    }

    pub fn class(&self) -> H5T_class_t {
        // SAFETY: our own identifier.
        unsafe { (self.library.fns.H5Tget_class)(self.id) }
    }

    /// Whether an element has no parts that could be written without the others.
    pub fn is_scalar(&self) -> bool {
        ![H5T_class_t_H5T_COMPOUND, H5T_class_t_H5T_ARRAY].contains(&self.class())
    }

    /// Whether an element is nothing but its bytes: no part of it is a reference, or lies elsewhere.
    pub fn is_plain(&self) -> bool {
        is_plain(self.library, self.id)
    }

    /// How elements of the datatype `memory` become elements of this one: all of each in one part, or, where `memory`
    /// has only some of the members, those parts. `None` if only HDF5 can do it.
    pub fn parts_from(&self, memory: hid_t) -> Result<Option<Vec<Part>>, Error> {
        let library = self.library;
        let whole = |change| Ok(Some(vec![Part { offset: 0, len: self.bytes() as u64, change }]));
        if equal(library, memory, self.id) {
            return whole(Change::None);
        }
        if !is_plain(library, memory) {
            return Ok(None);
        }
        if self.class() != H5T_class_t_H5T_COMPOUND {
            if !covers(library, memory, self.id)? || looks_at_the_file(library, memory, self.id)? {
                return Ok(None);
            }
            return whole(Change::Convert(Self::copy_of(library, self.id)?));
        }
        let Some(pairs) = self.pairs(memory)? else { return Ok(None) };
        for pair in pairs.iter().filter(|pair| !pair.same) {
            if looks_at_the_file(library, pair.memory.id, pair.file.kind.id)? {
                return Ok(None);
            }
        }
        // What lies between the members keeps its bytes.
        if pairs.iter().map(|pair| pair.file.kind.bytes()).sum::<usize>() < self.bytes() {
            return pairs
                .chunk_by(|a, b| a.touches(b))
                .map(|group| self.part(group))
                .collect::<Result<_, _>>()
                .map(Some);
        }
        if pairs.iter().all(|pair| pair.same) {
            return whole(Change::Moves(moves(&pairs, 0)));
        }
        whole(Change::Convert(Self::copy_of(library, self.id)?))
    }

    /// How elements of this datatype become elements of the datatype `memory`; members that only memory has stay as they
    /// are. `None` if only HDF5 can do it.
    pub fn change_to(&self, memory: hid_t) -> Result<Option<Change>, Error> {
        let library = self.library;
        if equal(library, memory, self.id) {
            return Ok(Some(Change::None));
        }
        if !is_plain(library, memory) {
            return Ok(None);
        }
        if self.class() == H5T_class_t_H5T_COMPOUND {
            let Some(pairs) = self.pairs(memory)? else { return Ok(None) };
            if pairs.iter().all(|pair| pair.same) {
                let back = moves(&pairs, 0).into_iter().map(|m| Move { from: m.to, to: m.from, len: m.len });
                return Ok(Some(Change::Moves(back.collect())));
            }
        }
        Ok(Some(Change::Convert(Self::copy_of(library, memory)?)))
    }

    /// The members that both have, in the order of the file; `None` if there are none, or parts of one are missing.
    fn pairs(&self, memory: hid_t) -> Result<Option<Vec<Pair>>, Error> {
        let library = self.library;
        // SAFETY: HDF5 checks the identifier.
        if unsafe { (library.fns.H5Tget_class)(memory) } != H5T_class_t_H5T_COMPOUND {
            return Ok(None);
        }
        let mut ours = members(library, memory)?;
        let mut pairs = Vec::new();
        for file in members(library, self.id)? {
            let Some(place) = ours.iter().position(|member| member.name == file.name) else { continue };
            let memory = &ours[place];
            if !covers(library, memory.kind.id, file.kind.id)? {
                return Ok(None);
            }
            let same = equal(library, memory.kind.id, file.kind.id);
            let Member { offset: from, kind: memory, .. } = ours.swap_remove(place);
            pairs.push(Pair { from, memory, same, file });
        }
        pairs.sort_by_key(|pair| pair.file.offset);
        Ok((!pairs.is_empty()).then_some(pairs))
    }

    /// One part of neighbouring members.
    fn part(&self, group: &[Pair]) -> Result<Part, Error> {
        let library = self.library;
        let offset = group[0].file.offset;
        let len = group.iter().map(|pair| pair.file.kind.bytes()).sum();
        let change = if group.iter().all(|pair| pair.same) {
            Change::Moves(moves(group, offset))
        } else {
            // SAFETY: plain values.
            let kind =
                Self::adopt(library, unsafe { (library.fns.H5Tcreate)(H5T_class_t_H5T_COMPOUND, len) })?;
            for Pair { file, .. } in group {
                // SAFETY: HDF5 checks identifiers; the name is a C string.
                let code = unsafe {
                    (library.fns.H5Tinsert)(kind.id, file.name.as_ptr(), file.offset - offset, file.kind.id)
                };
                if code < 0 {
                    return Err(Error::Reported);
                }
            }
            Change::Convert(kind)
        };
        Ok(Part { offset: offset as u64, len: len as u64, change })
    }
}

impl Drop for Kind {
    fn drop(&mut self) {
        // SAFETY: our own identifier, closed once.
        preserve(self.library, || unsafe { (self.library.fns.H5Tclose)(self.id) });
    }
}

/// Converts `count` elements in place. `background` holds what the members of the target have that the source lacks.
///
/// # Safety
/// Both buffers have room for `count` elements of the larger of the two datatypes, and `memory` is plain.
pub unsafe fn convert(
    library: &Library,
    from: hid_t,
    to: hid_t,
    count: usize,
    buffer: *mut c_void,
    background: *mut c_void,
    dxpl: hid_t,
) -> Result<(), Error> {
    // SAFETY: the caller's promise.
    match unsafe { (library.fns.H5Tconvert)(from, to, count, buffer, background, dxpl) } {
        code if code >= 0 => Ok(()),
        _ => Err(Error::Reported),
    }
}

pub fn bytes(library: &Library, id: hid_t) -> usize {
    // SAFETY: HDF5 checks the identifier.
    unsafe { (library.fns.H5Tget_size)(id) }
}

pub fn equal(library: &Library, a: hid_t, b: hid_t) -> bool {
    // SAFETY: HDF5 checks the identifiers.
    unsafe { (library.fns.H5Tequal)(a, b) > 0 }
}

pub fn is_plain(library: &'static Library, id: hid_t) -> bool {
    // SAFETY: HDF5 checks the identifier.
    let class = unsafe { (library.fns.H5Tget_class)(id) };
    #[allow(non_upper_case_globals)]
    match class {
        H5T_class_t_H5T_INTEGER
        | H5T_class_t_H5T_FLOAT
        | H5T_class_t_H5T_TIME
        | H5T_class_t_H5T_BITFIELD
        | H5T_class_t_H5T_OPAQUE
        | H5T_class_t_H5T_ENUM
        | H5T_class_t_H5T_COMPLEX => true,
        // SAFETY: as above.
        H5T_class_t_H5T_STRING => unsafe { (library.fns.H5Tis_variable_str)(id) == 0 },
        H5T_class_t_H5T_ARRAY => base(library, id).is_ok_and(|base| base.is_plain()),
        H5T_class_t_H5T_COMPOUND => {
            members(library, id).is_ok_and(|members| members.iter().all(|member| member.kind.is_plain()))
        }
        _ => false,
    }
}

/// Whether `memory` has every member that `file` has, at every depth.
fn covers(library: &'static Library, memory: hid_t, file: hid_t) -> Result<bool, Error> {
    // SAFETY: HDF5 checks the identifiers.
    let (class, other) = unsafe { ((library.fns.H5Tget_class)(file), (library.fns.H5Tget_class)(memory)) };
    if class == H5T_class_t_H5T_ARRAY && other == class {
        return covers(library, base(library, memory)?.id, base(library, file)?.id);
    }
    if class != H5T_class_t_H5T_COMPOUND {
        return Ok(true);
    }
    if other != class {
        return Ok(false);
    }
    let ours = members(library, memory)?;
    for file in members(library, file)? {
        let found = ours.iter().find(|member| member.name == file.name);
        if !found.map_or(Ok(false), |member| covers(library, member.kind.id, file.kind.id))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether converting from `memory` to `file` takes what is in the file: bytes between members that stay, or because a
/// conversion of the program's asks for it. `memory` has all members that `file` has.
fn looks_at_the_file(library: &'static Library, memory: hid_t, file: hid_t) -> Result<bool, Error> {
    if equal(library, memory, file) {
        return Ok(false);
    }
    // SAFETY: HDF5 checks the identifiers.
    let (class, other) = unsafe { ((library.fns.H5Tget_class)(file), (library.fns.H5Tget_class)(memory)) };
    if class == H5T_class_t_H5T_ARRAY && other == class {
        return looks_at_the_file(library, base(library, memory)?.id, base(library, file)?.id);
    }
    if class != H5T_class_t_H5T_COMPOUND {
        return Ok(wants_background(library, memory, file));
    }
    let (ours, theirs) = (members(library, memory)?, members(library, file)?);
    if theirs.iter().map(|member| member.kind.bytes()).sum::<usize>() < bytes(library, file) {
        return Ok(true);
    }
    for file in theirs {
        let found = ours.iter().find(|member| member.name == file.name);
        if found.map_or(Ok(false), |memory| looks_at_the_file(library, memory.kind.id, file.kind.id))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether HDF5 gives the conversion what is in the file. If there is no such conversion, HDF5 will say so.
fn wants_background(library: &'static Library, memory: hid_t, file: hid_t) -> bool {
    let mut data: *mut H5T_cdata_t = std::ptr::null_mut();
    // SAFETY: HDF5 checks the identifiers; a place to write to.
    let found = quietly(library, || unsafe { (library.fns.H5Tfind)(memory, file, &mut data) });
    // SAFETY: HDF5's own, which lives as long as the conversion is registered.
    !found.is_null() && !data.is_null() && unsafe { (*data).need_bkg } == H5T_bkg_t_H5T_BKG_YES
}

fn base(library: &'static Library, id: hid_t) -> Result<Kind, Error> {
    // SAFETY: HDF5 checks the identifier.
    Kind::adopt(library, unsafe { (library.fns.H5Tget_super)(id) })
}

#[derive(Debug)]
struct Member {
    name: CString,
    offset: usize,
    kind: Kind,
}

/// A member of the file's datatype, and where it is in memory.
#[derive(Debug)]
struct Pair {
    from: usize,
    memory: Kind,
    same: bool,
    file: Member,
}

impl Pair {
    fn touches(&self, next: &Self) -> bool {
        self.file.offset + self.file.kind.bytes() == next.file.offset
    }
}

/// What moves where, for members whose bytes stay the same; `offset` is where the part begins.
fn moves(pairs: &[Pair], offset: usize) -> Vec<Move> {
    let mut moves: Vec<Move> = Vec::new();
    for Pair { from, file, .. } in pairs {
        let next = Move { from: *from, to: file.offset - offset, len: file.kind.bytes() };
        match moves.last_mut() {
            Some(last) if last.from + last.len == next.from && last.to + last.len == next.to => {
                last.len += next.len;
            }
            _ => moves.push(next),
        }
    }
    moves
}

fn members(library: &'static Library, id: hid_t) -> Result<Vec<Member>, Error> {
    // SAFETY: HDF5 checks the identifier.
    let count = unsafe { (library.fns.H5Tget_nmembers)(id) };
    let count = c_uint::try_from(count).map_err(|_| Error::Reported)?;
    (0..count).map(|number| member(library, id, number)).collect()
}

fn member(library: &'static Library, id: hid_t, number: c_uint) -> Result<Member, Error> {
    // SAFETY: HDF5 checks identifier and number.
    let text = unsafe { (library.fns.H5Tget_member_name)(id, number) };
    if text.is_null() {
        return Err(Error::Reported);
    }
    // SAFETY: HDF5 has made a C string for us.
    let name = unsafe { CStr::from_ptr(text) }.to_owned();
    // SAFETY: memory of HDF5, given back once.
    unsafe { (library.fns.H5free_memory)(text.cast()) };
    // SAFETY: as above.
    let offset = unsafe { (library.fns.H5Tget_member_offset)(id, number) };
    // SAFETY: as above.
    let kind = Kind::adopt(library, unsafe { (library.fns.H5Tget_member_type)(id, number) })?;
    Ok(Member { name, offset, kind })
}
