//! How much memory and how many processors there are for the processes of this node. Memory may be limited by the control
//! group of a container or of a job, or by one that holds it; what each process may use of the processors, its affinity, says
//! nothing of how many processes there are. Files are read here, as texts; what they mean is decided by functions of texts.

use std::fs;
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// `None` if nothing tells.
    pub memory_bytes: Option<u64>,
    pub processors: Option<usize>,
}

impl Node {
    /// As this process finds it now.
    pub fn here() -> Self {
        let text = |path: PathBuf| fs::read_to_string(path).ok();
        let total = text("/proc/meminfo".into()).and_then(|text| total_bytes(&text));
        let groups = text("/proc/self/cgroup".into()).unwrap_or_default();
        let limits = limit_files(&groups).into_iter().filter_map(|path| limit_bytes(&text(path)?));
        let online = text("/sys/devices/system/cpu/online".into());
        Self {
            memory_bytes: total.into_iter().chain(limits).min(),
            processors: online.and_then(|text| processors(&text)),
        }
    }
}

/// Of `/proc/meminfo`.
fn total_bytes(meminfo: &str) -> Option<u64> {
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = total.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// The files that may limit the memory of a process, by its `/proc/self/cgroup`: of its group and of those that hold it, in both
/// versions of control groups. Not all are there; in a container, the outermost is that of the container.
fn limit_files(groups: &str) -> Vec<PathBuf> {
    let files = |line: &str| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, group) = (fields.next()?, fields.next()?);
        let (root, name) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|one| one == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => return None,
        };
        // A group outside of what this process sees is told with dots, and cannot be looked at.
        let names: Vec<&str> = group.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
        let depths = (0..=names.len()).rev();
        Some(depths.map(move |depth| [&[root], &names[..depth], &[name]].concat().iter().collect()).collect())
    };
    groups.lines().filter_map(files).flat_map(|files: Vec<PathBuf>| files).collect()
}

/// Of such a file; `None` if there is no limit.
fn limit_bytes(limit: &str) -> Option<u64> {
    limit.trim().parse().ok()
}

/// How many are in a list as `0-3,8`.
fn processors(list: &str) -> Option<usize> {
    let mut count = 0;
    for range in list.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        count += last.checked_sub(first)? + 1;
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_what_the_kernel_has() {
        let text = "MemTotal:       24684100 kB\nMemFree:        19923308 kB\n";
        assert_eq!(total_bytes(text), Some(24_684_100 << 10));
        assert_eq!(total_bytes("MemFree: 1 kB\n"), None);
        assert_eq!(total_bytes("MemTotal: many kB\n"), None);
        assert_eq!(total_bytes(""), None);
    }

    #[test]
    fn groups_are_limited_by_those_that_hold_them() {
        let files = |groups| -> Vec<String> {
            limit_files(groups).iter().map(|path| path.display().to_string()).collect()
        };
        let job = "0::/system.slice/slurmstepd.scope/job_7\n";
        let expected = [
            "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/memory.max",
            "/sys/fs/cgroup/system.slice/slurmstepd.scope/memory.max",
            "/sys/fs/cgroup/system.slice/memory.max",
            "/sys/fs/cgroup/memory.max",
        ];
        assert_eq!(files(job), expected);
        let both = "9:name=systemd:/a\n5:hugetlb,memory:/slurm/job:7\n3:cpuset:/slurm\n0::/\n";
        let expected = [
            "/sys/fs/cgroup/memory/slurm/job:7/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/slurm/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory.max",
        ];
        assert_eq!(files(both), expected);
        assert_eq!(files("0::/../other\n"), ["/sys/fs/cgroup/other/memory.max", "/sys/fs/cgroup/memory.max"]);
        assert_eq!(files("nothing\n1:name\n"), [""; 0]);
    }

    #[test]
    fn limits_are_numbers() {
        assert_eq!(limit_bytes("1073741824\n"), Some(1 << 30));
        assert_eq!(limit_bytes("9223372036854771712\n"), Some(i64::MAX as u64 & !4095));
        assert_eq!(limit_bytes("max\n"), None);
        assert_eq!(limit_bytes(""), None);
    }

    #[test]
    fn processors_are_counted() {
        assert_eq!(processors("0-1\n"), Some(2));
        assert_eq!(processors("0\n"), Some(1));
        assert_eq!(processors("0-3,8,10-127\n"), Some(4 + 1 + 118));
        assert_eq!(processors("\n"), None);
        assert_eq!(processors("3-1\n"), None);
    }

    #[test]
    fn something_is_here() {
        let here = Node::here();
        assert!(here.memory_bytes.is_some_and(|bytes| bytes > 0), "{here:?}");
    }
}
