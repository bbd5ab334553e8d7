//! The callbacks by name, for counting and for messages.

macro_rules! ops {
    ($($variant:ident = $name:literal,)*) => {
        /// A callback of the connector.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Op { $($variant,)* }

        impl Op {
            pub const ALL: &[Op] = &[$(Op::$variant,)*];

            /// `<class> <callback>`, as in error messages and reports.
            pub const fn name(self) -> &'static str {
                match self { $(Op::$variant => $name,)* }
            }
        }
    };
}

ops! {
    AttrCreate = "attr create",
    AttrOpen = "attr open",
    AttrRead = "attr read",
    AttrWrite = "attr write",
    AttrGet = "attr get",
    AttrSpecific = "attr specific",
    AttrOptional = "attr optional",
    AttrClose = "attr close",
    DatasetCreate = "dataset create",
    DatasetOpen = "dataset open",
    DatasetRead = "dataset read",
    DatasetWrite = "dataset write",
    DatasetGet = "dataset get",
    DatasetSpecific = "dataset specific",
    DatasetOptional = "dataset optional",
    DatasetClose = "dataset close",
    DatatypeCommit = "datatype commit",
    DatatypeOpen = "datatype open",
    DatatypeGet = "datatype get",
    DatatypeSpecific = "datatype specific",
    DatatypeOptional = "datatype optional",
    DatatypeClose = "datatype close",
    FileCreate = "file create",
    FileOpen = "file open",
    FileGet = "file get",
    FileSpecific = "file specific",
    FileOptional = "file optional",
    FileClose = "file close",
    GroupCreate = "group create",
    GroupOpen = "group open",
    GroupGet = "group get",
    GroupSpecific = "group specific",
    GroupOptional = "group optional",
    GroupClose = "group close",
    LinkCreate = "link create",
    LinkCopy = "link copy",
    LinkMove = "link move",
    LinkGet = "link get",
    LinkSpecific = "link specific",
    LinkOptional = "link optional",
    ObjectOpen = "object open",
    ObjectCopy = "object copy",
    ObjectGet = "object get",
    ObjectSpecific = "object specific",
    ObjectOptional = "object optional",
    IntrospectClass = "introspect get_conn_cls",
    IntrospectFlags = "introspect get_cap_flags",
    IntrospectOptional = "introspect opt_query",
    RequestWait = "request wait",
    RequestNotify = "request notify",
    RequestCancel = "request cancel",
    RequestSpecific = "request specific",
    RequestOptional = "request optional",
    RequestFree = "request free",
    BlobPut = "blob put",
    BlobGet = "blob get",
    BlobSpecific = "blob specific",
    BlobOptional = "blob optional",
    TokenCompare = "token cmp",
    TokenToText = "token to_str",
    TokenFromText = "token from_str",
    Optional = "optional",
    InfoCopy = "info copy",
    InfoCompare = "info cmp",
    InfoFree = "info free",
    InfoToText = "info to_str",
    InfoFromText = "info from_str",
    WrapGetObject = "wrap get_object",
    WrapGetContext = "wrap get_wrap_ctx",
    WrapObject = "wrap wrap_object",
    WrapUnwrapObject = "wrap unwrap_object",
    WrapFreeContext = "wrap free_wrap_ctx",
    Terminate = "terminate",
}
