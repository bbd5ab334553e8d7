//! The library that lets more MPICH ranks than cores run at a bearable speed (see `idle.c`).

use super::piece::{Piece, keyed};
use crate::proc::Run;
use anyhow::Result;
use std::fs;
use std::path::{Path, PathBuf};

const SOURCE: &str = include_str!("idle.c");

pub fn piece(cache: &Path) -> Piece {
    Piece::new("library for more ranks than cores", folder(cache), vec![], |work| -> Result<()> {
        let source = work.scratch.join("idle.c");
        fs::write(&source, SOURCE)?;
        Run::new("/usr/bin/gcc")
            .args(["-O2", "-shared", "-fPIC", "-o"])
            .arg(work.folder.join("libidle.so"))
            .arg(&source)
            .arg("-ldl")
            .log(&work.log)
            .ok()?;
        Ok(())
    })
}

/// The library to preload.
pub fn library(cache: &Path) -> PathBuf {
    folder(cache).join("libidle.so")
}

fn folder(cache: &Path) -> PathBuf {
    keyed(cache, "idle", &[SOURCE])
}
