package dev.millrace.expressions.function.regex;

import dev.millrace.memory.Memory;

/**
 * One step of a {@link OneWayMatcher}: matches its own part at a place and then all that follows it. Nodes are immutable;
 * what changes is in the matcher.
 */
abstract class Node {
    /** Whether a match leads from byte {@code at} to the end of the pattern. */
    abstract boolean matches(OneWayMatcher state, int at);

    /** The end of the pattern. */
    static final class Accept extends Node {
        @Override
        boolean matches(OneWayMatcher state, int at) {
            state.end = at;
            return true;
        }
    }

    /** Bytes, exactly. */
    static final class Literal extends Node {
        private final byte[] bytes;
        private final Node next;

        Literal(byte[] bytes, Node next) {
            this.bytes = bytes;
            this.next = next;
        }

        @Override
        boolean matches(OneWayMatcher state, int at) {
            if (state.length - at < bytes.length) {
                return false;
            }
            long address = state.address + at;
            for (int i = 0; i < bytes.length; i++) {
                if (Memory.getByte(address + i) != bytes[i]) {
                    return false;
                }
            }
            return next.matches(state, at + bytes.length);
        }
    }

    /** One character of a set, repeated. */
    static final class Run extends Node {
        private final CharSet set;
        private final int least;
        private final int most;
        private final boolean greedy;
        private final Node next;

        Run(CharSet set, int least, int most, boolean greedy, Node next) {
            this.set = set;
            this.least = least;
            this.most = most;
            this.greedy = greedy;
            this.next = next;
        }

        @Override
        boolean matches(OneWayMatcher state, int start) {
            int at = start;
            int count = 0;
            while (count < least) {
                int bytes = state.matchOne(set, at);
                if (bytes == 0) {
                    return false;
                }
                at += bytes;
                count++;
            }
            return greedy ? longestFirst(state, at, count) : shortestFirst(state, at, count);
        }

        private boolean longestFirst(OneWayMatcher state, int shortest, int reached) {
            int at = shortest;
            int count = reached;
            while (count < most) {
                int bytes = state.matchOne(set, at);
                if (bytes == 0) {
                    break;
                }
                at += bytes;
                count++;
            }
            state.work += at - shortest;
            while (!next.matches(state, at)) {
                if (at == shortest) {
                    return false;
                }
                do {
                    at--;
                } while (state.isContinuation(at));
            }
            return true;
        }

        private boolean shortestFirst(OneWayMatcher state, int shortest, int reached) {
            int at = shortest;
            int count = reached;
            while (!next.matches(state, at)) {
                int bytes = count < most ? state.matchOne(set, at) : 0;
                if (bytes == 0) {
                    return false;
                }
                at += bytes;
                count++;
                state.work++;
            }
            return true;
        }
    }

    /** The first of several ways that leads to a match. */
    static final class Choice extends Node {
        private final Node[] branches;

        Choice(Node[] branches) {
            this.branches = branches;
        }

        @Override
        boolean matches(OneWayMatcher state, int at) {
            for (Node branch : branches) {
                if (branch.matches(state, at)) {
                    return true;
                }
            }
            return false;
        }
    }

    /** Notes where a group begins or ends. */
    static final class Mark extends Node {
        private final int slot;
        private final Node next;

        Mark(int slot, Node next) {
            this.slot = slot;
            this.next = next;
        }

        @Override
        boolean matches(OneWayMatcher state, int at) {
            int before = state.marks[slot];
            state.marks[slot] = at;
            if (next.matches(state, at)) {
                return true;
            }
            state.marks[slot] = before;
            return false;
        }
    }

    /**
     * A repeated expression. Entered with its counter at zero; each end of the body comes back to {@link #matches}. An
     * iteration over nothing is the last.
     */
    static final class Loop extends Node {
        private final int slot; // of the counter; the next one holds where the iteration began
        private final int least;
        private final int most;
        private final boolean greedy;
        private final Node next;

        @SuppressWarnings("NullAway.Init")
        private Node body; // set once, right after it was made around this node

        Loop(int slot, int least, int most, boolean greedy, Node next) {
            this.slot = slot;
            this.least = least;
            this.most = most;
            this.greedy = greedy;
            this.next = next;
        }

        void setBody(Node newBody) {
            body = newBody;
        }

        @Override
        boolean matches(OneWayMatcher state, int at) {
            int count = state.counters[slot];
            int began = state.counters[slot + 1];
            if (count > least && at == began) {
                return next.matches(state, at);
            }
            if (count < least) {
                return again(state, at, count, began);
            }
            return greedy
                    ? (count < most && again(state, at, count, began)) || leave(state, at, count, began)
                    : leave(state, at, count, began) || (count < most && again(state, at, count, began));
        }

        private boolean again(OneWayMatcher state, int at, int count, int began) {
            state.counters[slot] = count + 1;
            state.counters[slot + 1] = at;
            if (body.matches(state, at)) {
                return true;
            }
            state.counters[slot] = count;
            state.counters[slot + 1] = began;
            return false;
        }

        private boolean leave(OneWayMatcher state, int at, int count, int began) {
            boolean matched = next.matches(state, at);
            // What follows may have come through here again, in an enclosing loop.
            state.counters[slot] = count;
            state.counters[slot + 1] = began;
            return matched;
        }
    }

    /** Begins a loop. */
    static final class Enter extends Node {
        private final int slot;
        private final Loop loop;

        Enter(int slot, Loop loop) {
            this.slot = slot;
            this.loop = loop;
        }

        @Override
        boolean matches(OneWayMatcher state, int at) {
            int count = state.counters[slot];
            int began = state.counters[slot + 1];
            state.counters[slot] = 0;
            state.counters[slot + 1] = -1;
            boolean matched = loop.matches(state, at);
            state.counters[slot] = count;
            state.counters[slot + 1] = began;
            return matched;
        }
    }

    /** A place in the text. */
    static final class At extends Node {
        private final RegexSyntax.Place place;
        private final Node next;

        At(RegexSyntax.Place place, Node next) {
            this.place = place;
            this.next = next;
        }

        @Override
        boolean matches(OneWayMatcher state, int at) {
            return isHere(state, at) && next.matches(state, at);
        }

        private boolean isHere(OneWayMatcher state, int at) {
            return switch (place) {
                case TEXT_START -> at == 0;
                case TEXT_END -> at == state.length;
                case LINE_START -> at == 0 || state.isNewline(at - 1);
                case LINE_END -> at == state.length || state.isNewline(at);
                case WORD_START -> !state.isWordBefore(at) && state.isWordAt(at);
                case WORD_END -> state.isWordBefore(at) && !state.isWordAt(at);
                case WORD_BOUNDARY -> state.isWordBefore(at) != state.isWordAt(at);
                case NO_WORD_BOUNDARY -> state.isWordBefore(at) == state.isWordAt(at);
            };
        }
    }
}
