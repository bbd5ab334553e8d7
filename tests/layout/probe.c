/* Prints how this compiler lays out HDF5's types with the headers of this installation: one line for each entry of
 * layout.inc, which is made from the Rust bindings, so that nothing that Rust knows is left out. */
#include <H5ESdevelop.h>
#include <H5FDdevelop.h>
#include <H5PLextern.h>
#include <H5VLconnector.h>
#include <H5VLconnector_passthru.h>
#include <H5VLnative.h>
#include <hdf5.h>
#include <stddef.h>
#include <stdio.h>

#define SIZE(type)         printf("%s %zu\n", #type, sizeof(type));
#define FIELD(type, field) printf("%s.%s %zu\n", #type, #field, offsetof(type, field));
#define VALUE(name)        printf("%s = %lld\n", #name, (long long)(name));

int main(void)
{
#include "layout.inc"
    return 0;
}
