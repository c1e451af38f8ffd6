"""The keys of rooms in Redis, and the script that changes them atomically.

Keys begin with PREFIX. In the following, a room is the SHA-256 of its id. An owner is the SHA-256 of the address of the
client that created the room. Both are hexadecimal.

    <room>                a stream. The epoch of the room has the id 0-1, and each entry has an id <number>-<tag>.
                          Entries are in the order of their last changes. Tags are random, so that a lost entry is never
                          mistaken for a later one with the same number
    <room>:here           a hash: the presence of each worker's followers in the room
    <room>:emotes:<person>
                          the number of emotes that a person has sent in the current period
    owner, size           hashes: each room's owner, and each room's size in bytes
    used, of:<owner>      sorted sets: the times of last use of all rooms, and of an owner's rooms, in microseconds
    rooms, bytes          sorted sets: the number of each owner's rooms, and their total size in bytes
    total                 a number: the total size of all rooms in bytes

All keys have a time to live. Changes in a room are published on the channel with the name of its key. Deleted rooms are
published on the channel PREFIX.
"""

PREFIX = "chatiere:rooms:"
HERE, EMOTES = b"h", b"e"
"""The first bytes of messages about presence and emotes. Messages about entries begin with a different byte."""

# Store and publish the presence of a worker's followers in a room.
# ARGV 1, 2: the key `<room>:here`, and the room's channel.
# ARGV 3, 4: the worker, and the presence of the worker's followers ("" for no followers).
# ARGV 5, 6: the lifetime of the key in milliseconds, and the message to publish.
TELL_HERE = """
local key, channel, worker, part, lifetime, message = unpack(ARGV)
if part == '' then
    redis.call('HDEL', key, worker)
else
    redis.call('HSET', key, worker, part)
    redis.call('PEXPIRE', key, lifetime)
end
redis.call('PUBLISH', channel, message)
"""

# Publish an emote, unless the person has sent too many in the current period. A period begins with an emote.
# ARGV 1, 2: the key `<room>:emotes:<person>`, and the room's channel.
# ARGV 3, 4: the maximum number of emotes in a period, and the period in milliseconds.
# ARGV 5: the message to publish.
# Returns 0 or, if the emote is not published, the rest of the period in milliseconds.
TELL_EMOTE = """
local key, channel, most, period, message = unpack(ARGV)
local count = redis.call('INCR', key)
if count == 1 then
    redis.call('PEXPIRE', key, period)
elseif count > tonumber(most) then
    return math.max(1, redis.call('PTTL', key))
end
redis.call('PUBLISH', channel, message)
return 0
"""

# Put an entry into a room, and delete rooms that are idle or that exceed a limit.
# ARGV 1, 2: the prefix, and the room.
# ARGV 3, 4: the epoch and the id of the last entry in the caller's copy of the room ("" for none).
# ARGV 5 … 7: the maximum number of rooms, their maximum total size in bytes, and a room's lifetime in milliseconds.
# ARGV 8, 9: the new entry ("" for none), and the new entry's id.
# ARGV 10, 11: the id of the entry to replace ("" for none), and the ids of the entries to remove, separated by commas.
# ARGV 12: the number of bytes by which the room grows.
# ARGV 13 … 15: the owner, the epoch and the size in bytes of a new room.
# Returns one of these results:
# - {"taken", number of idle rooms deleted, number of rooms deleted because of a limit}: the entry was put.
# - {"behind", epoch, all entries}: the caller is not up to date. If the room does not exist, the epoch is "".
# - {"full", name of the limit, value of the limit}: a limit is exceeded, and no room can be deleted.
PUT = """
local prefix, room, epoch, last = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local max_rooms, max_bytes, lifetime = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local entry, id, replaced, gone, growth = ARGV[8], ARGV[9], ARGV[10], ARGV[11], tonumber(ARGV[12])
local client, new_epoch, of_room = ARGV[13], ARGV[14], tonumber(ARGV[15])
local stream = prefix .. room
local used, owners, sizes, total = prefix .. 'used', prefix .. 'owner', prefix .. 'size', prefix .. 'total'
local by_rooms, by_bytes = prefix .. 'rooms', prefix .. 'bytes'
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local function account(whose, rooms, bytes)
    redis.call('INCRBY', total, bytes)
    for key, more in pairs({[by_rooms] = rooms, [by_bytes] = bytes}) do
        if tonumber(redis.call('ZINCRBY', key, more, whose)) <= 0 then
            redis.call('ZREM', key, whose)
        end
    end
end

local function drop(each, whose)
    -- The size may be missing if another program has deleted it.
    local size = redis.call('HGET', sizes, each) or 0
    redis.call('DEL', prefix .. each, prefix .. each .. ':here')
    redis.call('ZREM', prefix .. 'of:' .. whose, each)
    redis.call('ZREM', used, each)
    account(whose, -1, 0 - size)
    redis.call('HDEL', owners, each)
    redis.call('HDEL', sizes, each)
    redis.call('PUBLISH', prefix, each)
end

local idle = redis.call('ZRANGEBYSCORE', used, '-inf', now - 1000 * lifetime, 'LIMIT', 0, 100)
for _, each in ipairs(idle) do
    drop(each, redis.call('HGET', owners, each) or '')
end
local newest = redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1)[1]
local held, held_last = '', ''
if newest then
    held, held_last = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1][2][2], newest[1]
elseif redis.call('HEXISTS', owners, room) == 1 then
    drop(room, redis.call('HGET', owners, room))
end
if held ~= epoch or held_last ~= last then
    return {'behind', held, redis.call('XRANGE', stream, '-', '+')}
end
local owner = redis.call('HGET', owners, room) or client
local full = 0
if entry ~= '' then
    local more = 0
    if not newest then
        more, growth = 1, growth + of_room
    end
    local function half(most)
        return math.floor((most + 1) / 2)
    end
    while true do
        local limit, most, whose
        if tonumber(redis.call('ZSCORE', by_rooms, owner) or 0) + more > half(max_rooms) then
            limit, most, whose = 'rooms of one client', half(max_rooms), owner
        elseif tonumber(redis.call('ZSCORE', by_bytes, owner) or 0) + growth > half(max_bytes) then
            limit, most, whose = "bytes of one client's rooms", half(max_bytes), owner
        elseif redis.call('ZCARD', used) + more > max_rooms then
            limit, most, whose = 'rooms at a time', max_rooms, redis.call('ZREVRANGE', by_rooms, 0, 0)[1]
        elseif tonumber(redis.call('GET', total) or 0) + growth > max_bytes then
            limit, most, whose = 'bytes of all rooms', max_bytes, redis.call('ZREVRANGE', by_bytes, 0, 0)[1]
        else
            break
        end
        local oldest = redis.call('ZRANGE', prefix .. 'of:' .. (whose or ''), 0, 1)
        local other = oldest[1] ~= room and oldest[1] or oldest[2]
        if not other then
            return {'full', limit, most}
        end
        drop(other, whose)
        full = full + 1
    end
    if not newest then
        redis.call('XADD', stream, '0-1', 'epoch', new_epoch)
        redis.call('HSET', owners, room, owner)
        redis.call('HSET', sizes, room, 0)
    end
    redis.call('XADD', stream, id, 'entry', entry)
    if replaced ~= '' then
        redis.call('XDEL', stream, replaced)
    end
    for each in string.gmatch(gone, '[^,]+') do
        redis.call('XDEL', stream, each)
    end
    redis.call('HINCRBY', sizes, room, growth)
    account(owner, more, growth)
    redis.call('PUBLISH', stream, 'p' .. id .. ' ' .. gone .. ' ' .. entry)
end
if entry ~= '' or newest then
    redis.call('ZADD', used, now, room)
    redis.call('ZADD', prefix .. 'of:' .. owner, now, room)
    redis.call('PEXPIRE', stream, lifetime)
    for _, key in ipairs({used, owners, sizes, total, by_rooms, by_bytes, prefix .. 'of:' .. owner}) do
        -- These keys must outlive every room, because they are needed to delete rooms.
        redis.call('PEXPIRE', key, 2 * lifetime)
    end
end
return {'taken', #idle, full}
"""
