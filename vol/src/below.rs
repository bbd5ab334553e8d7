//! The connector below Sago, and our wrappers around its objects.
//!
//! Callbacks of the connector below are called straight from its class table, not through HDF5's `H5VL...`
//! functions: so errors reach the stack exactly as without Sago and are printed once, and a call costs little
//! (docs/decisions/001-call-below-directly.md).
//!
//! Invariant: a wrapper is made for each object that the connector below returns, and freed when that object is
//! closed, or unwrapped by HDF5.

use crate::capture::{Dataset, Handle, Reason};
use sago_core::config::{Config, UnderVol};
use sago_hdf5::handle::{Connector, ConnectorInfo, PropertyList};
use sago_hdf5::sys::{H5VL_VERSION, H5VL_class_t, hid_t};
use sago_hdf5::{Error, Library};
use sago_storage::Inode;
use std::ffi::{CString, c_void};
use std::sync::{Arc, OnceLock};

/// The connector below an open file, shared by all its objects.
pub struct Below {
    pub library: &'static Library,
    class: *const H5VL_class_t,
    /// Keeps the connector registered, and so its class table alive. The native one is part of the library.
    _connector: Option<Connector>,
    /// Why nothing of the file is captured.
    refusal: OnceLock<Reason>,
}

// SAFETY: the table is constant and the identifier a number. A thread-safe HDF5 holds its lock around every callback,
// but objects may be opened by one thread and closed by another.
unsafe impl Send for Below {}
// SAFETY: as above; there is nothing to write to.
unsafe impl Sync for Below {}

impl Below {
    pub fn class(&self) -> &H5VL_class_t {
        // SAFETY: the table lives as long as the connector is registered, which `_connector` sees to, or is a
        // constant of the library.
        unsafe { &*self.class }
    }

    /// Whether it is HDF5's own.
    pub fn is_native(&self) -> bool {
        self.class().value == 0
    }

    /// Nothing of the file is captured, for this reason.
    pub fn refuse(&self, reason: Reason) {
        // A file is opened once.
        let _ = self.refusal.set(reason);
    }

    pub fn refusal(&self) -> Option<Reason> {
        self.refusal.get().copied()
    }

    /// The connector that `config` names, and the file access list to use with it in place of `fapl`.
    pub fn open(
        library: &'static Library,
        config: &Config,
        fapl: hid_t,
    ) -> Result<(Arc<Self>, PropertyList), Error> {
        let connector = connector(library, config)?;
        let class = connector.class()?;
        // SAFETY: a table just handed out by a connector that is registered; its first field is the version in
        // every version.
        let version = unsafe { (*class).version };
        if version != H5VL_VERSION {
            return Err(Error::Message(format!(
                "the connector below has a class table of version {version}; Sago knows version {H5VL_VERSION}"
            )));
        }
        let fapl_below = PropertyList::copy_of(library, fapl)?;
        fapl_below.set_connector(&connector, &connector_info(&connector, config)?)?;
        let connector = (config.under_vol != UnderVol::Native).then_some(connector);
        Ok((Arc::new(Self { library, class, _connector: connector, refusal: OnceLock::new() }), fapl_below))
    }
}

/// A reference to the connector that `config` names.
pub fn connector(library: &'static Library, config: &Config) -> Result<Connector, Error> {
    match &config.under_vol {
        UnderVol::Native => Connector::native(library),
        UnderVol::Value(value) => Connector::by_value(library, *value),
        UnderVol::Name(name) => Connector::by_name(library, &text(name)?),
    }
}

/// The options of the connector below, in its own form.
pub fn connector_info<'c>(connector: &'c Connector, config: &Config) -> Result<ConnectorInfo<'c>, Error> {
    connector.parse_info(&text(&config.under_info)?)
}

fn text(text: &str) -> Result<CString, Error> {
    CString::new(text).map_err(|_| Error::Message("an option contains a zero byte".to_owned()))
}

/// What HDF5 holds for each open object: the object of the connector below, whose it is, and what capture knows of it.
pub struct Wrapper {
    object: *mut c_void,
    below: Arc<Below>,
    role: Role,
}

/// What an open object is to capture.
#[derive(Clone)]
pub enum Role {
    None,
    File(Arc<Handle>),
    Dataset(Arc<Dataset>),
    /// Left to HDF5. If its file is not captured, which one that is.
    Passed(Reason, Option<Inode>),
}

impl Wrapper {
    /// Wraps an object for HDF5.
    pub fn around(object: *mut c_void, below: &Arc<Below>) -> *mut c_void {
        Box::into_raw(Box::new(Self { object, below: Arc::clone(below), role: Role::None })).cast()
    }

    /// The object inside, and whose it is. No reference to the wrapper is kept, since some operations free it
    /// while they run (`H5Drefresh`).
    ///
    /// # Safety
    /// `wrapper` is a live wrapper.
    pub unsafe fn parts(wrapper: *const c_void) -> (*mut c_void, Arc<Below>) {
        // SAFETY: the caller's promise.
        let wrapper = unsafe { &*wrapper.cast::<Self>() };
        (wrapper.object, Arc::clone(&wrapper.below))
    }

    /// # Safety
    /// `wrapper` is a live wrapper.
    pub unsafe fn role(wrapper: *const c_void) -> Role {
        // SAFETY: the caller's promise.
        unsafe { &*wrapper.cast::<Self>() }.role.clone()
    }

    /// # Safety
    /// `wrapper` is a live wrapper.
    pub unsafe fn set_role(wrapper: *mut c_void, role: Role) {
        // SAFETY: the caller's promise; HDF5 lets one thread in at a time.
        unsafe { &mut *wrapper.cast::<Self>() }.role = role;
    }

    /// The object inside, for an operation that takes several: all must belong to the connector with the table
    /// `class`. Null stays null.
    ///
    /// # Safety
    /// `wrapper` is null or a live wrapper.
    pub unsafe fn object_of(wrapper: *const c_void, class: &H5VL_class_t) -> Result<*mut c_void, Error> {
        if wrapper.is_null() {
            return Ok(std::ptr::null_mut());
        }
        // SAFETY: the caller's promise, and not null.
        let wrapper = unsafe { &*wrapper.cast::<Self>() };
        if std::ptr::eq(wrapper.below.class, class) {
            return Ok(wrapper.object);
        }
        Err(Error::Message("the objects belong to files with different connectors below Sago".to_owned()))
    }

    /// # Safety
    /// `wrapper` is a live wrapper, and nobody uses it afterwards.
    pub unsafe fn free(wrapper: *mut c_void) {
        // SAFETY: made by `around`, freed once by the caller's promise.
        drop(unsafe { Box::from_raw(wrapper.cast::<Self>()) });
    }
}
