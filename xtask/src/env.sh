# Source this to run HDF5 programs through Sago:   . /path/to/env.sh
# It finds itself, so the folder may be moved as a whole.

if [ -n "${BASH_SOURCE-}" ]; then
    _sago_dir=${BASH_SOURCE%/*}
    [ "$_sago_dir" != "$BASH_SOURCE" ] || _sago_dir=.
elif [ -n "${ZSH_VERSION-}" ]; then
    eval '_sago_dir=${${(%):-%x}:A:h}'
else
    # Other shells do not tell, but keep the file open while they read it.
    for _sago_fd in /proc/$$/fd/*; do
        _sago_dir=$(readlink "$_sago_fd")
        case $_sago_dir in
        */env.sh) _sago_dir=${_sago_dir%/*}; [ ! -e "$_sago_dir/lib/libsago_vol.so" ] || break ;;
        esac
        _sago_dir=
    done
    unset _sago_fd
fi

if _sago_dir=$(CDPATH= cd "${_sago_dir:-/nonexistent}/lib" 2>/dev/null && pwd) && [ -e "$_sago_dir/libsago_vol.so" ]; then
    case ":${HDF5_PLUGIN_PATH-}:" in
    *":$_sago_dir:"*) ;;
    *) HDF5_PLUGIN_PATH=$_sago_dir${HDF5_PLUGIN_PATH:+:$HDF5_PLUGIN_PATH} ;;
    esac
    HDF5_VOL_CONNECTOR=sago
    export HDF5_PLUGIN_PATH HDF5_VOL_CONNECTOR
else
    echo "sago: env.sh found no lib/libsago_vol.so beside itself; nothing was set" >&2
fi
unset _sago_dir
