package dev.millrace.expressions.function.regex;

import java.util.Arrays;

/**
 * A nondeterministic automaton of a syntax, as Thompson built them ("Regular expression search algorithm", 1968): steps
 * that consume a character of some classes, and such that consume nothing. Immutable.
 */
final class Program {
    /** What a step does. */
    enum Kind {
        /** Consumes a character of one of its classes. */
        CONSUME,
        /** Goes two ways, the first one preferred. */
        SPLIT,
        /** Goes on at certain places. */
        AT,
        /** Goes on where a lookaround holds. */
        LOOK,
        /** The end. */
        ACCEPT
    }

    private static final int MOST_STEPS = 20_000;

    private Kind[] kinds = new Kind[16];
    private int[] next = new int[16];
    private int[] others = new int[16]; // of a split the second way, of a look its number
    private RegexSyntax.Place[] places = new RegexSyntax.Place[16];
    private long[][] classes = new long[16][];
    private int size;
    private int start;
    private boolean seesPlaces;

    int size() {
        return size;
    }

    int start() {
        return start;
    }

    void startAt(int step) {
        start = step;
    }

    /** Whether what lies around a place matters. */
    boolean seesPlaces() {
        return seesPlaces;
    }

    Kind kind(int step) {
        return kinds[step];
    }

    int next(int step) {
        return next[step];
    }

    /** The second way of a split. */
    int other(int step) {
        return others[step];
    }

    /** Which lookaround a step asks. */
    int look(int step) {
        return others[step];
    }

    RegexSyntax.Place place(int step) {
        return places[step];
    }

    boolean consumes(int step, int characterClass) {
        return (classes[step][characterClass >> 6] >>> characterClass & 1) != 0;
    }

    long[] classes(int step) {
        return classes[step];
    }

    private int add(Kind kind, int following) {
        if (size == MOST_STEPS) {
            throw Parser.invalid("regular expression is too complex");
        }
        if (size == kinds.length) {
            kinds = Arrays.copyOf(kinds, 2 * size);
            next = Arrays.copyOf(next, 2 * size);
            others = Arrays.copyOf(others, 2 * size);
            places = Arrays.copyOf(places, 2 * size);
            classes = Arrays.copyOf(classes, 2 * size);
        }
        kinds[size] = kind;
        next[size] = following;
        return size++;
    }

    int accept() {
        return add(Kind.ACCEPT, -1);
    }

    int consume(long[] ofClasses, int following) {
        int step = add(Kind.CONSUME, following);
        classes[step] = ofClasses;
        return step;
    }

    int split(int first, int second) {
        int step = add(Kind.SPLIT, first);
        others[step] = second;
        return step;
    }

    /** Gives a split its ways, when they were not known yet. */
    void setWays(int split, int first, int second) {
        next[split] = first;
        others[split] = second;
    }

    int at(RegexSyntax.Place place, int following) {
        int step = add(Kind.AT, following);
        places[step] = place;
        seesPlaces = true;
        return step;
    }

    int look(int number, int following) {
        int step = add(Kind.LOOK, following);
        others[step] = number;
        return step;
    }
}
