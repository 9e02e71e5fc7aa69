package dev.millrace.connectors.parquet;

import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;

/**
 * The values of one page, one after the other, by one encoding. Sixteen bytes behind a page can be read. Not thread-safe.
 *
 * <pre>
 *   next() -> number, of numbers and booleans: floating-point numbers as their bits; address and length, of bytes, until the next
 * </pre>
 */
abstract class PageValues {
    protected long number;
    protected long address;
    protected int length;

    /** Goes to the next value. */
    abstract void next() throws ParquetDamage;

    final long number() {
        return number;
    }

    final long address() {
        return address;
    }

    final int length() {
        return length;
    }

    private static void require(long bytes, long at, long end) throws ParquetDamage {
        ParquetDamage.check(bytes >= 0 && bytes <= end - at, "a page has fewer values than it says");
    }

    /** Numbers of four or eight bytes. */
    static PageValues numbers(long from, long end, int width) {
        return new PageValues() {
            private long at = from;

            @Override
            void next() throws ParquetDamage {
                require(width, at, end);
                number = width == 4 ? Memory.getInt(at) : Memory.getLong(at);
                at += width;
            }
        };
    }

    /** Booleans of a bit. */
    static PageValues bits(long from, long end) {
        return new PageValues() {
            private long read;

            @Override
            void next() throws ParquetDamage {
                require(1, from + (read >>> 3), end);
                number = Memory.getByte(from + (read >>> 3)) >>> (read & 7) & 1;
                read++;
            }
        };
    }

    /** Booleans as runs, behind their length. */
    static PageValues runs(long from, long end) throws ParquetDamage {
        require(4, from, end);
        RunDecoder runs = new RunDecoder();
        long length = Memory.getInt(from) & 0xffffffffL;
        require(length, from + 4, end);
        runs.begin(from + 4, from + 4 + length, 1);
        return new PageValues() {
            @Override
            void next() throws ParquetDamage {
                number = runs.next();
            }
        };
    }

    /** Bytes, each value behind its length. */
    static PageValues bytes(long from, long end) {
        return new PageValues() {
            private long at = from;

            @Override
            void next() throws ParquetDamage {
                require(4, at, end);
                length = Memory.getInt(at);
                address = at + 4;
                require(length, address, end);
                at = address + length;
            }
        };
    }

    /** Bytes, always so many. */
    static PageValues fixed(long from, long end, int width) {
        return new PageValues() {
            private long at = from;

            @Override
            void next() throws ParquetDamage {
                require(width, at, end);
                length = width;
                address = at;
                at += width;
            }
        };
    }

    /** Places in a dictionary, behind how many bits they have. */
    static PageValues places(long from, long end, PageDictionary dictionary) throws ParquetDamage {
        RunDecoder places = new RunDecoder();
        if (from < end) { // else the page has no values but NULL
            places.begin(from + 1, end, Memory.getByte(from) & 0xff);
        }
        return new PageValues() {
            @Override
            void next() throws ParquetDamage {
                int place = places.next();
                ParquetDamage.check(place >= 0 && place < dictionary.size(), "a place outside of its dictionary");
                number = dictionary.number(place);
                address = dictionary.address(place);
                length = dictionary.length(place);
            }
        };
    }

    static PageValues differences(long from, long end, long mostValues) throws ParquetDamage {
        DeltaDecoder numbers = new DeltaDecoder(from, end, mostValues);
        return new PageValues() {
            @Override
            void next() throws ParquetDamage {
                number = numbers.next();
            }
        };
    }

    /** Bytes one behind the other, behind all their lengths. */
    static PageValues lengths(long from, long end, long mostValues) throws ParquetDamage {
        DeltaDecoder lengths = new DeltaDecoder(from, end, mostValues);
        long bytes = new DeltaDecoder(from, end, mostValues).readToEnd();
        return new PageValues() {
            private long at = bytes;

            @Override
            void next() throws ParquetDamage {
                long next = lengths.next();
                require(next, at, end);
                length = (int) next;
                address = at;
                at += length;
            }
        };
    }

    /**
     * Bytes that each begin like the one before: how many of them, then what is behind those.
     *
     * @param scratch where values are put together; not used by anybody else
     */
    static PageValues prefixes(long from, long end, long mostValues, TextBuffer scratch) throws ParquetDamage {
        DeltaDecoder prefixes = new DeltaDecoder(from, end, mostValues);
        PageValues rest = lengths(new DeltaDecoder(from, end, mostValues).readToEnd(), end, mostValues);
        scratch.clear();
        return new PageValues() {
            @Override
            void next() throws ParquetDamage {
                long prefix = prefixes.next();
                ParquetDamage.check(
                        prefix >= 0 && prefix <= scratch.length(), "a value begins with more than the one before has");
                rest.next();
                scratch.truncate(prefix);
                scratch.append(rest.address, rest.length);
                scratch.room(ParquetMemory.SLACK_BYTES);
                address = scratch.address();
                length = (int) scratch.length();
            }
        };
    }

    /**
     * First bytes of all values, then second ones, ..
     *
     * @param isNumber of four or eight bytes, else values of bytes
     */
    static PageValues split(long from, long end, int width, boolean isNumber, TextBuffer scratch) {
        long count = (end - from) / width;
        return new PageValues() {
            private long read;

            @Override
            void next() throws ParquetDamage {
                ParquetDamage.check(read < count, "a page has fewer values than it says");
                scratch.clear();
                long to = scratch.room(width + ParquetMemory.SLACK_BYTES);
                for (int i = 0; i < width; i++) {
                    Memory.putByte(to + i, Memory.getByte(from + i * count + read));
                }
                read++;
                address = to;
                length = width;
                if (isNumber) {
                    number = width == 4 ? Memory.getInt(to) : Memory.getLong(to);
                }
            }
        };
    }
}
