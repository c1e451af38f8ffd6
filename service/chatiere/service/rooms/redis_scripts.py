"""The keys of rooms in Redis, and the script that changes them, all at once.

Keys begin with PREFIX; a room is the SHA-256 of its id, an owner the client that began the room, both hexadecimal.

    <room>                a stream: its epoch at 0-1, then each entry at <number>-<tag>, once, where it last changed;
                          the tag is random, so that entries of a state that was lost are never taken for others
    <room>:here           a hash: of each worker with followers there its part of who is here
    owner, size           hashes: of each room
    used, of:<owner>      sorted sets: rooms by their last use, in microseconds
    rooms, bytes          sorted sets: owners by how much they have
    total                 bytes of all rooms

All of it has a time to live. What changes in a room is published under its key, a room that is forgotten under PREFIX.
"""

PREFIX = "chatiere:rooms:"
HERE = b"h"
"""The first byte of a message of who is here; those of entries have another."""

# ARGV: prefix, room, the epoch and the last entry that the caller knows ("": none); the bounds: rooms, bytes, lifetime;
# the new entry ("": none), its id, the id of the entry that it replaces ("": none), the bytes that the room grows by;
# what a new room needs: owner, epoch, bytes.
# Returns {"taken", rooms that were idle, rooms that gave way}; {"behind", epoch, entries} where the caller does not
# know all, with what it lacks ("" and none where there is no room); {"full", limit, most} where it has no place.
PUT = """
local prefix, room, epoch, last = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local max_rooms, max_bytes, lifetime = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local entry, id, replaced, growth = ARGV[8], ARGV[9], ARGV[10], tonumber(ARGV[11])
local client, new_epoch, of_room = ARGV[12], ARGV[13], tonumber(ARGV[14])
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
    -- Somebody may have deleted its size.
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
    local from = '-'
    if held ~= '' and held == epoch and #redis.call('XRANGE', stream, last, last) == 1 then
        from = '(' .. last
    end
    return {'behind', held, redis.call('XRANGE', stream, from, '+')}
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
    redis.call('HINCRBY', sizes, room, growth)
    account(owner, more, growth)
    redis.call('PUBLISH', stream, 'p' .. id .. ' ' .. entry)
end
if entry ~= '' or newest then
    redis.call('ZADD', used, now, room)
    redis.call('ZADD', prefix .. 'of:' .. owner, now, room)
    redis.call('PEXPIRE', stream, lifetime)
    for _, key in ipairs({used, owners, sizes, total, by_rooms, by_bytes, prefix .. 'of:' .. owner}) do
        -- Longer than any room, which is forgotten by them.
        redis.call('PEXPIRE', key, 2 * lifetime)
    end
end
return {'taken', #idle, full}
"""
