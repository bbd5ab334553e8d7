//! What a file system says of itself: its kind, its unit of access, and whether other nodes see the same files.

use crate::lustre;
use sago_core::plan::Medium;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSystem {
    /// As the kernel names it: `ext4`, `tmpfs`, `lustre`, `gpfs`, `nfs4`, `fuse.glusterfs`.
    pub kind: String,
    pub mount_point: PathBuf,
    /// The size of transfers that it likes best; on GPFS that of its blocks.
    pub block_bytes: u64,
    /// Where files are striped and say so.
    pub stripes: Option<Stripes>,
    /// Whether other nodes can see the same files; None when the kind is not known.
    pub shared: Option<bool>,
}

/// How a file is spread over storage targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stripes {
    pub size_bytes: u64,
    /// None where it is left to the servers.
    pub count: Option<u32>,
}

const SHARED: [&str; 20] = [
    "lustre",
    "gpfs",
    "beegfs",
    "ceph",
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "pvfs2",
    "panfs",
    "gfs2",
    "ocfs2",
    "afs",
    "9p",
    "virtiofs",
    "wekafs",
    "daos",
    "glusterfs",
    "moosefs",
    "mfs",
];
const LOCAL: [&str; 12] =
    ["ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "tmpfs", "ramfs", "overlay", "vfat", "devtmpfs"];

/// Nodes keep pages of files for a while, and neither see at once what others wrote nor keep from writing back what is around their own
/// bytes: MPI libraries lock each access there.
const INCOHERENT: [&str; 9] = ["nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "virtiofs", "coda"];
/// Those that are not, of what comes by FUSE.
const COHERENT_FUSE: [&str; 10] = [
    "glusterfs",
    "lustre",
    "beegfs",
    "ceph",
    "cephfs",
    "ceph-fuse",
    "pvfs2",
    "daos",
    "-overlayfs",
    "fuse-overlayfs",
];

impl FileSystem {
    /// Whether several nodes can write to one file, and read it, and see what there is. What comes by FUSE and is not known may be
    /// anything.
    pub fn is_coherent(&self) -> bool {
        match self.kind.strip_prefix("fuse") {
            Some(name) => COHERENT_FUSE.contains(&name.trim_start_matches('.')),
            None => !INCOHERENT.contains(&self.kind.as_str()),
        }
    }

    /// Where it has its files.
    pub fn medium(&self) -> Medium {
        match self.kind.as_str() {
            "tmpfs" | "ramfs" => Medium::Memory,
            "fuse.glusterfs" => Medium::Network,
            _ => Medium::Elsewhere,
        }
    }

    /// Of a file or folder that is there, or of the folder that a new file goes to.
    pub fn of(path: &Path) -> io::Result<Self> {
        let path = existing(path)?;
        let table = fs::read_to_string("/proc/self/mountinfo")?;
        let (mount_point, kind) =
            mount_of(&table, &path).unwrap_or((PathBuf::from("/"), "unknown".to_owned()));
        let block_bytes = u64::try_from(rustix::fs::statfs(&path)?.f_bsize).unwrap_or(4096);
        let stripes =
            if kind == "lustre" { attribute(&path).and_then(|a| lustre::stripes(&a)) } else { None };
        let shared = shared(&kind);
        Ok(Self { kind, mount_point, block_bytes, stripes, shared })
    }
}

fn existing(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            fs::canonicalize(folder)
        }
        found => found,
    }
}

fn attribute(path: &Path) -> Option<Vec<u8>> {
    let mut value = vec![0; 65536];
    let len = rustix::fs::getxattr(path, lustre::ATTRIBUTE, &mut value).ok()?;
    value.truncate(len);
    Some(value)
}

/// `fuse.NAME` is judged by its name; a FUSE that tells none may be anything.
fn shared(kind: &str) -> Option<bool> {
    let name = kind.strip_prefix("fuse.").unwrap_or(kind);
    if SHARED.contains(&name) || matches!(name, "sshfs" | "s3fs" | "cvmfs" | "cephfs") {
        Some(true)
    } else if LOCAL.contains(&kind) || matches!(name, "fuse-overlayfs" | "ntfs") {
        Some(false)
    } else {
        None
    }
}

/// Mount point and kind of the mount that a path lies in: the longest one that it starts with, and of several at one
/// place the last. Format of a line: `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw`.
fn mount_of(table: &str, path: &Path) -> Option<(PathBuf, String)> {
    let mounts = table.lines().filter_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        Some((unescape(left.split(' ').nth(4)?), right.split(' ').next()?.to_owned()))
    });
    mounts.filter(|(point, _)| path.starts_with(point)).max_by_key(|(point, _)| point.components().count())
}

/// Spaces and the like are written as `\040`.
fn unescape(text: &str) -> PathBuf {
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap_or("").to_owned();
    for part in parts {
        match part.get(..3).and_then(|code| u8::from_str_radix(code, 8).ok()) {
            Some(code) => {
                plain.push(char::from(code));
                plain.push_str(&part[3..]);
            }
            None => {
                plain.push('\\');
                plain.push_str(part);
            }
        }
    }
    PathBuf::from(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 22 0:25 / /dev/shm rw - tmpfs tmpfs rw
41 22 0:40 / /mnt/pfs rw - fuse.glusterfs client.vol rw
42 22 0:41 / /scratch rw shared:7 - lustre 10.0.0.1@tcp:/scratch rw
43 22 0:42 / /scratch/with\\040space rw - nfs4 server:/x rw
44 22 0:43 / /mnt/pfs rw - tmpfs over rw
";

    #[test]
    fn kinds_whose_nodes_see_each_others_writes() {
        let found = |kind: &str| FileSystem {
            kind: kind.to_owned(),
            mount_point: PathBuf::new(),
            block_bytes: 4096,
            stripes: None,
            shared: None,
        };
        for kind in [
            "lustre",
            "gpfs",
            "beegfs",
            "ext4",
            "tmpfs",
            "fuse.glusterfs",
            "fuse.ceph-fuse",
            "fuse-overlayfs",
        ] {
            assert!(found(kind).is_coherent(), "{kind}");
        }
        for kind in ["nfs", "nfs4", "cifs", "9p", "fuse", "fuseblk", "fuse.sshfs", "fuse.anything"] {
            assert!(!found(kind).is_coherent(), "{kind}");
        }
    }

    #[test]
    fn the_longest_mount_point_counts_and_of_equal_ones_the_last() {
        let kind = |path: &str| mount_of(TABLE, Path::new(path)).unwrap().1;
        assert_eq!(kind("/home/x"), "ext4");
        assert_eq!(kind("/dev/shm/a"), "tmpfs");
        assert_eq!(kind("/scratch/a/b"), "lustre");
        assert_eq!(kind("/scratch2"), "ext4");
        assert_eq!(kind("/scratch/with space/f"), "nfs4");
        assert_eq!(kind("/mnt/pfs/f"), "tmpfs");
    }

    #[test]
    fn kinds_are_shared_local_or_unknown() {
        for kind in ["lustre", "gpfs", "nfs4", "fuse.glusterfs", "fuse.mfs", "beegfs"] {
            assert_eq!(shared(kind), Some(true), "{kind}");
        }
        for kind in ["ext4", "tmpfs", "overlay", "xfs"] {
            assert_eq!(shared(kind), Some(false), "{kind}");
        }
        assert_eq!(shared("fuse"), None);
        assert_eq!(shared("somefs"), None);
    }

    #[test]
    fn this_machine() {
        let shm = FileSystem::of(Path::new("/dev/shm/not-there-yet")).unwrap();
        assert_eq!((shm.kind.as_str(), shm.shared), ("tmpfs", Some(false)));
        assert!(shm.block_bytes.is_power_of_two());
        assert!(FileSystem::of(Path::new("/no/such/folder/file")).is_err());
    }
}
