//! HDF5 opens every plugin of a folder while it searches and closes those that it does not need, but our code may have
//! handed out addresses by then: the plugin must stay.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
