//! Why an operation was left to HDF5. Nothing falls back silently: each is counted, and the report shows them.

use std::fmt;

macro_rules! reasons {
    ($($variant:ident = $text:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Reason { $($variant,)* }

        impl Reason {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

reasons! {
    Off = "the options say so",
    NoMemory = "no memory for the window",
    NotMpio = "the file is not opened with the MPI-IO driver",
    ReadOnly = "the file is opened for reading only",
    ConnectorBelow = "the connector below is not HDF5's native one",
    NoMpi = "the MPI of this process cannot be used",
    NoSuchFile = "the file cannot be opened a second time",
    OptionsDiffer = "the ranks have different options",
    OptionsUnread = "the options of some rank cannot be read",
    Machine = "the machine that the options name has fewer nodes than the ranks are on",
    Incoherent = "ranks are on several nodes, and the file system does not show them each other's writes at once",
    OtherFile = "the dataset lies in a file that the program has not opened",
    Closed = "the file was closed before the dataset",
    Atomic = "the file is in MPI's atomic mode",
    Independent = "independent, in immediate mode",
    IndependentRead = "an independent read",
    Compact = "the layout is compact",
    Virtual = "the layout is virtual",
    External = "the data are in external files",
    CollectiveMetadata = "chunked, with metadata read collectively",
    Filter = "the dataset has filters",
    UserBlock = "chunked, after a user block, with HDF5 before 1.14.4",
    NotAllocated = "space in the file is not, or not wholly, allocated",
    NotPlain = "the datatype has variable lengths or references",
    NoSpace = "the data space is null",
    Unlinked = "the dataset was removed while open",
    Unknown = "HDF5 did not tell enough of the dataset",
    Unseen = "this rank could not look at the dataset",
    MemoryType = "the datatype in memory needs HDF5's own conversion",
    Transform = "a data transform",
    Selection = "the selection is one that only HDF5 can judge",
    Conversion = "the conversion failed",
    Sparse = "small pieces with holes between them, in immediate mode",
    Mixed = "one call for datasets that are treated differently",
}

impl Reason {
    /// Nothing is captured of such a dataset, or all of it was carried out before it became such a one.
    pub const fn is_without_waiting(self) -> bool {
        let of_kind = matches!(self, Self::NotPlain | Self::NoSpace | Self::Unlinked);
        let of_layout = matches!(self, Self::Compact | Self::External | Self::Filter);
        of_kind || of_layout || matches!(self, Self::NotAllocated | Self::UserBlock)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
