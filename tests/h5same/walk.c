/* Objects and links. An object with several links is compared once, and the other file must have the same links to it. */
#include "same.h"

/* --- pairs of objects that were met --------------------------------------------------------------------------------- */

typedef struct {
    H5O_token_t token[2];
    char       *path;
} Met;

static Met    *met;
static size_t  met_count, met_room;
static size_t *slots[2]; /* per file: token -> number of the pair, plus one */
static size_t  slot_count;

static size_t slot_of(int side, const H5O_token_t *token)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < sizeof *token; i++)
        h = (h ^ ((const unsigned char *)token)[i]) * 1099511628211u;
    size_t s = (size_t)(h ^ h >> 32) % slot_count;
    while (slots[side][s] && memcmp(&met[slots[side][s] - 1].token[side], token, sizeof *token) != 0)
        s = (s + 1) % slot_count;
    return s;
}

static Met *find(int side, const H5O_token_t *token)
{
    size_t number = slot_count ? slots[side][slot_of(side, token)] : 0;
    return number ? &met[number - 1] : NULL;
}

static void *grown(void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return array;
    *room = *room ? 2 * *room : 64;
    if (!(array = realloc(array, *room * size)))
        abort();
    return array;
}

static void remember(const char *path, const H5O_info2_t *info)
{
    met              = grown(met, met_count, &met_room, sizeof *met);
    met[met_count++] = (Met){{info[0].token, info[1].token}, strdup(path)};
    size_t first     = met_count - 1;
    if (slot_count < 2 * met_room) { /* the table is at most half full; when it grows, all are put anew */
        slot_count = 2 * met_room;
        first      = 0;
        for (int side = 0; side < 2; side++) {
            free(slots[side]);
            if (!(slots[side] = calloc(slot_count, sizeof *slots[side])))
                abort();
        }
    }
    for (size_t i = first; i < met_count; i++)
        for (int side = 0; side < 2; side++)
            slots[side][slot_of(side, &met[i].token[side])] = i + 1;
}

/* Whether this pair was met before. If only one of the two was, or with another partner, that is a difference. */
static bool known(const char *path, const H5O_info2_t *info)
{
    Met *a = find(0, &info[0].token), *b = find(1, &info[1].token);
    if (!a && !b) {
        remember(path, info);
        return false;
    }
    if (a != b)
        differ(path, "is the same object as %s in A, as %s in B", a ? a->path : "nothing else", b ? b->path : "nothing else");
    return true;
}

/* --- references: what they lead to may be met later ----------------------------------------------------------------- */

typedef struct {
    H5O_token_t token[2];
    char       *path;
} Target;

static Target *targets;
static size_t  target_count, target_room;

void same_target(const char *path, Pair objects)
{
    H5O_info2_t info[2];
    for (int i = 0; i < 2; i++)
        if (H5Oget_info3(objects.id[i], &info[i], H5O_INFO_BASIC) < 0) {
            stuck(path, "no information about the target of a reference");
            return;
        }
    same.count.references++;
    targets                 = grown(targets, target_count, &target_room, sizeof *targets);
    targets[target_count++] = (Target){{info[0].token, info[1].token}, strdup(path)};
}

void same_targets_at_end(void)
{
    for (size_t i = 0; i < target_count; i++) { /* the list can grow: unlinked objects have references too */
        Target t = targets[i];
        Met   *a = find(0, &t.token[0]), *b = find(1, &t.token[1]);
        if (a && a == b)
            continue;
        if (a || b) {
            differ(t.path, "refers to %s in A, to %s in B", a ? a->path : "an unlinked object", b ? b->path : "an unlinked object");
            continue;
        }
        Pair unlinked = {{H5Oopen_by_token(same.file.id[0], t.token[0]), H5Oopen_by_token(same.file.id[1], t.token[1])}};
        same_objects(t.path, unlinked);
        H5Oclose(unlinked.id[0]);
        H5Oclose(unlinked.id[1]);
    }
}

/* --- links ---------------------------------------------------------------------------------------------------------- */

typedef struct {
    char       *name;
    H5L_info2_t info;
} Link;

typedef struct {
    Link  *at;
    size_t count, room;
} Links;

static herr_t collect(hid_t group, const char *name, const H5L_info2_t *info, void *data)
{
    Links *links = data;
    (void)group;
    links->at                 = grown(links->at, links->count, &links->room, sizeof *links->at);
    links->at[links->count++] = (Link){strdup(name), *info};
    return 0;
}

static ssize_t raw_value(const char *name, const void *value, size_t size, void *buf, size_t buf_size)
{
    (void)name;
    if (buf)
        memcpy(buf, value, size < buf_size ? size : buf_size);
    return (ssize_t)size;
}

static hid_t no_way(const char *name, hid_t group, const void *value, size_t size, hid_t lapl, hid_t dxpl)
{
    (void)name, (void)group, (void)value, (void)size, (void)lapl, (void)dxpl;
    return H5I_INVALID_HID;
}

/* The library gives the value of a user-defined link only to those who know its class. */
static void know_class(H5L_type_t type)
{
    H5L_class_t any = {H5L_LINK_CLASS_T_VERS, type, "any", NULL, NULL, NULL, no_way, NULL, raw_value};
    if (type >= H5L_TYPE_UD_MIN && H5Lis_registered(type) <= 0)
        H5Lregister(&any);
}

static void same_link_value(const char *path, Pair groups, const Link *a)
{
    H5L_info2_t info[2];
    know_class(a->info.type);
    for (int i = 0; i < 2; i++)
        if (H5Lget_info2(groups.id[i], a->name, &info[i], H5P_DEFAULT) < 0)
            stuck(path, "no information about the link");
    size_t size = info[0].u.val_size;
    if (!equal(path, "size of the link's value", (long long)size, (long long)info[1].u.val_size))
        return;
    char  *value[2] = {calloc(1, size + 1), calloc(1, size + 1)};
    size_t text     = a->info.type == H5L_TYPE_EXTERNAL && size > 0; /* it starts with a byte of flags */
    for (int i = 0; i < 2; i++)
        if (H5Lget_val(groups.id[i], a->name, value[i], size, H5P_DEFAULT) < 0)
            stuck(path, "the link's value cannot be read");
    if (memcmp(value[0], value[1], size) != 0)
        differ(path, "link leads to %s and to %s", value[0] + text, value[1] + text);
    free(value[0]);
    free(value[1]);
}

static void same_link(const char *group_path, Pair groups, const Link *a, const Link *b)
{
    size_t length = strlen(group_path) + strlen(a->name) + 2;
    char  *path   = malloc(length);
    snprintf(path, length, "%s%s%s", group_path, strcmp(group_path, "/") == 0 ? "" : "/", a->name);
    same.count.links++;
    equal(path, "character set of the link", a->info.cset, b->info.cset);
    if (equal(path, "creation order of the link is known", a->info.corder_valid, b->info.corder_valid) && a->info.corder_valid)
        equal(path, "creation order of the link", a->info.corder, b->info.corder);
    if (equal(path, "type of link", a->info.type, b->info.type)) {
        if (a->info.type == H5L_TYPE_HARD) {
            Pair objects = {{H5Oopen(groups.id[0], a->name, H5P_DEFAULT), H5Oopen(groups.id[1], a->name, H5P_DEFAULT)}};
            same_objects(path, objects);
            for (int i = 0; i < 2; i++)
                if (objects.id[i] >= 0)
                    H5Oclose(objects.id[i]);
        }
        else
            same_link_value(path, groups, a);
    }
    free(path);
}

static void same_groups(const char *path, Pair groups)
{
    Links links[2];
    memset(links, 0, sizeof links);
    same.count.groups++;
    same_group_lists(path, groups);
    for (int i = 0; i < 2; i++)
        if (H5Literate2(groups.id[i], H5_INDEX_NAME, H5_ITER_INC, NULL, collect, &links[i]) < 0)
            stuck(path, "the links of the group cannot be listed");
    for (size_t a = 0, b = 0; a < links[0].count || b < links[1].count;) {
        int order = a == links[0].count ? 1 : b == links[1].count ? -1 : strcmp(links[0].at[a].name, links[1].at[b].name);
        if (order < 0)
            differ(path, "only A has a link %s", links[0].at[a++].name);
        else if (order > 0)
            differ(path, "only B has a link %s", links[1].at[b++].name);
        else {
            same_link(path, groups, &links[0].at[a], &links[1].at[b]);
            a++, b++;
        }
    }
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < links[i].count; k++)
            free(links[i].at[k].name);
        free(links[i].at);
    }
}

/* --- objects -------------------------------------------------------------------------------------------------------- */

static void same_comments(const char *path, Pair objects)
{
    char text[2][1024] = {"", ""};
    for (int i = 0; i < 2; i++)
        H5Oget_comment(objects.id[i], text[i], sizeof text[i]);
    if (strcmp(text[0], text[1]) != 0)
        differ(path, "comments \"%s\" and \"%s\"", text[0], text[1]);
}

static void same_committed(const char *path, Pair types)
{
    unsigned order[2] = {0, 0};
    same.count.types++;
    same_types(path, types);
    for (int i = 0; i < 2; i++) {
        hid_t list = H5Tget_create_plist(types.id[i]);
        H5Pget_attr_creation_order(list, &order[i]);
        H5Pclose(list);
    }
    equal(path, "attribute creation order", order[0], order[1]);
}

void same_objects(const char *path, Pair objects)
{
    H5O_info2_t info[2];
    if (objects.id[0] < 0 || objects.id[1] < 0) {
        if (objects.id[0] < 0 && objects.id[1] < 0)
            stuck(path, "the object cannot be opened in either file");
        else
            differ(path, "the object cannot be opened in %c", objects.id[0] < 0 ? 'A' : 'B');
        return;
    }
    for (int i = 0; i < 2; i++)
        if (H5Oget_info3(objects.id[i], &info[i], H5O_INFO_ALL) < 0) {
            stuck(path, "no information about the object in %c", 'A' + i);
            return;
        }
    if (known(path, info) || !equal(path, "type of object", info[0].type, info[1].type))
        return;
    equal(path, "links to the object", info[0].rc, info[1].rc);
    if (same.times) {
        equal(path, "access time", info[0].atime, info[1].atime);
        equal(path, "modification time", info[0].mtime, info[1].mtime);
        equal(path, "change time", info[0].ctime, info[1].ctime);
        equal(path, "birth time", info[0].btime, info[1].btime);
    }
    same_comments(path, objects);
    same_attributes(path, objects);
    if (info[0].type == H5O_TYPE_GROUP)
        same_groups(path, objects);
    else if (info[0].type == H5O_TYPE_DATASET)
        same_dataset(path, objects);
    else
        same_committed(path, objects);
}
