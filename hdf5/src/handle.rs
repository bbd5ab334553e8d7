//! HDF5 identifiers that close themselves, without touching the error stack.

use crate::error::{Error, preserve};
use crate::library::Library;
use crate::sys::*;
use std::collections::BTreeSet;
use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::{Mutex, PoisonError};

/// A property list that we own.
#[derive(Debug)]
pub struct PropertyList {
    library: &'static Library,
    id: hid_t,
}

impl PropertyList {
    pub fn copy_of(library: &'static Library, id: hid_t) -> Result<Self, Error> {
        // SAFETY: HDF5 checks identifiers.
        match unsafe { (library.fns.H5Pcopy)(id) } {
            id if id >= 0 => Ok(Self { library, id }),
            _ => Err(Error::Reported),
        }
    }

    /// Takes over an identifier.
    pub fn adopt(library: &'static Library, id: hid_t) -> Result<Self, Error> {
        if id >= 0 { Ok(Self { library, id }) } else { Err(Error::Reported) }
    }

    pub fn id(&self) -> hid_t {
        self.id
    }

    /// Makes `connector` with `info` the connector of this file access list.
    pub fn set_connector(&self, connector: &Connector, info: &ConnectorInfo<'_>) -> Result<(), Error> {
        // SAFETY: `info` was made by this connector, or is null.
        match unsafe { (self.library.fns.H5Pset_vol)(self.id, connector.id, info.raw) } {
            code if code >= 0 => Ok(()),
            _ => Err(Error::Reported),
        }
    }
}

impl Drop for PropertyList {
    fn drop(&mut self) {
        // SAFETY: our own identifier, closed once.
        preserve(self.library, || unsafe { (self.library.fns.H5Pclose)(self.id) });
    }
}

/// A reference to a registered VOL connector.
#[derive(Debug)]
pub struct Connector {
    library: &'static Library,
    id: hid_t,
}

impl Connector {
    pub fn native(library: &'static Library) -> Result<Self, Error> {
        Self::by_value(library, 0)
    }

    /// Finds or loads the connector with this registered number.
    pub fn by_value(library: &'static Library, value: H5VL_class_value_t) -> Result<Self, Error> {
        // SAFETY: plain values.
        Self::registered(library, unsafe {
            (library.fns.H5VLregister_connector_by_value)(value, H5P_DEFAULT)
        })
    }

    /// Finds or loads the connector of this name.
    pub fn by_name(library: &'static Library, name: &CStr) -> Result<Self, Error> {
        // HDF5 (1.14.5, 2.2.0) keeps the pointer to the name in its cache of plugins, so the name must stay. It does
        // the same with the connector's name in HDF5_VOL_CONNECTOR, which it frees; when other text comes to lie in
        // that place, it takes that for the name of the connector loaded first. Hence the check.
        let name = kept(name);
        // SAFETY: a C string, for good.
        let id = unsafe { (library.fns.H5VLregister_connector_by_name)(name.as_ptr(), H5P_DEFAULT) };
        let connector = Self::registered(library, id)?;
        // SAFETY: the table of a registered connector, whose name is a C string.
        let found = unsafe { CStr::from_ptr((*connector.class()?).name) };
        if found == name {
            return Ok(connector);
        }
        let text = format!("HDF5 finds no VOL connector called {name:?}, only {found:?}");
        Err(Error::Message(text))
    }

    fn registered(library: &'static Library, id: hid_t) -> Result<Self, Error> {
        if id >= 0 { Ok(Self { library, id }) } else { Err(Error::Reported) }
    }

    /// The table of callbacks of the connector. It lives as long as the connector is registered.
    pub fn class(&self) -> Result<*const H5VL_class_t, Error> {
        // At level CURR a connector answers with its own table, whatever the object, and there is no object yet;
        // but HDF5 refuses a null one.
        static NO_OBJECT: [u64; 64] = [0; 64];
        let mut class = ptr::null();
        let level = H5VL_get_conn_lvl_t_H5VL_GET_CONN_LVL_CURR;
        let object = NO_OBJECT.as_ptr().cast::<c_void>().cast_mut();
        // SAFETY: the object is not looked at (see above); `class` is a place to write to.
        let code =
            unsafe { (self.library.fns.H5VLintrospect_get_conn_cls)(object, self.id, level, &mut class) };
        if code >= 0 && !class.is_null() { Ok(class) } else { Err(Error::Reported) }
    }

    pub fn cap_flags(&self, info: &ConnectorInfo<'_>) -> Result<u64, Error> {
        let mut flags = 0;
        // SAFETY: `info` was made by this connector, or is null; `flags` is a place to write to.
        match unsafe { (self.library.fns.H5VLintrospect_get_cap_flags)(info.raw, self.id, &mut flags) } {
            code if code >= 0 => Ok(flags),
            _ => Err(Error::Reported),
        }
    }

    /// Turns the text of options into the connector's own form; an empty text into none.
    pub fn parse_info(&self, text: &CStr) -> Result<ConnectorInfo<'_>, Error> {
        let mut info = ConnectorInfo { connector: self, raw: ptr::null_mut() };
        if text.is_empty() {
            return Ok(info);
        }
        let parse = self.library.fns.H5VLconnector_str_to_info;
        // SAFETY: a C string, and a place to write to.
        match unsafe { parse(text.as_ptr(), self.id, &mut info.raw) } {
            code if code >= 0 => Ok(info),
            _ => Err(Error::Reported),
        }
    }
}

/// The same text in memory that is never freed; once per name.
fn kept(name: &CStr) -> &'static CStr {
    static NAMES: Mutex<BTreeSet<&'static CStr>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let name: &'static CStr = Box::leak(name.to_owned().into_boxed_c_str());
    names.insert(name);
    name
}

impl Drop for Connector {
    fn drop(&mut self) {
        // SAFETY: our own reference, given back once.
        preserve(self.library, || unsafe { (self.library.fns.H5VLclose)(self.id) });
    }
}

/// Options of a connector in its own form, or none.
#[derive(Debug)]
pub struct ConnectorInfo<'c> {
    connector: &'c Connector,
    raw: *mut c_void,
}

impl Drop for ConnectorInfo<'_> {
    fn drop(&mut self) {
        if self.raw.is_null() {
            return;
        }
        let Connector { library, id } = self.connector;
        // SAFETY: made by this connector in `parse_info`, released once.
        preserve(library, || unsafe { (library.fns.H5VLfree_connector_info)(*id, self.raw) });
    }
}
