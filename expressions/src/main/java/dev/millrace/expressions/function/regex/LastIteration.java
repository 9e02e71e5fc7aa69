package dev.millrace.expressions.function.regex;

import dev.millrace.interrupt.Interrupt;
import java.util.Arrays;

/**
 * Where the last iteration begins when a piece of text is divided into iterations, each taking as much (or as little) as
 * it can, the first one first. One pass from the end: at each place, and for each step of the program, it is known where
 * the iteration under way would end best and where the last one begins after that.
 */
final class LastIteration {
    private static final int NONE = -1;

    private final Scanner scanner;
    private final Program program;
    private final boolean shortest;
    private final int begin;
    private final int end;
    private final int levels; // how many iterations may follow, or 1 when as many as one likes
    private final boolean limited;

    // By level and step: where the iteration ends, and where the last one after that begins.
    private int[][] ends;
    private int[][] lasts;
    private int[][] nextEnds;
    private int[][] nextLasts;

    LastIteration(Scanner scanner, Program program, RegexPart iteration, int begin, int end) {
        this.scanner = scanner;
        this.program = program;
        this.shortest = iteration.parts.get(0).isShortest();
        this.begin = begin;
        this.end = end;
        this.limited = iteration.most != RegexSyntax.Repeat.UNLIMITED;
        this.levels = limited ? iteration.most : 1;
        this.ends = new int[levels][program.size()];
        this.lasts = new int[levels][program.size()];
        this.nextEnds = new int[levels][program.size()];
        this.nextLasts = new int[levels][program.size()];
    }

    int start() {
        int[] reached = new int[levels]; // the best end of an iteration from here, by how many may follow
        int[] last = new int[levels];
        for (int[] each : nextEnds) {
            Arrays.fill(each, NONE);
        }
        int at = end;
        int read = 0;
        while (true) {
            if ((++read & 255) == 0) {
                Interrupt.checkCurrent();
            }
            for (int level = 0; level < levels; level++) {
                close(level, at, NONE, NONE);
                int best = at == end ? NONE : ends[level][program.start()];
                reached[level] = best;
                last[level] = best == end ? at : best == NONE ? NONE : lasts[level][program.start()];
            }
            if (at == begin) {
                return last[levels - 1];
            }
            for (int level = 0; level < levels; level++) {
                int following = limited ? level - 1 : 0;
                boolean can = at == end || following >= 0 && reached[following] != NONE;
                if (can) {
                    close(level, at, at, at == end ? at : last[following]);
                }
            }
            int[][] freeEnds = nextEnds;
            int[][] freeLasts = nextLasts;
            nextEnds = ends;
            nextLasts = lasts;
            ends = freeEnds;
            lasts = freeLasts;
            at = scanner.before(at);
        }
    }

    /** Fills in the steps at a place; an iteration may end here if an end is given. */
    private void close(int level, int at, int endHere, int lastHere) {
        int[] own = ends[level];
        int[] ownLasts = lasts[level];
        Arrays.fill(own, NONE);
        boolean changed = true;
        while (changed) { // again only where a loop leads back
            changed = false;
            for (int step = 0; step < program.size(); step++) {
                int from = NONE;
                int fromLast = NONE;
                switch (program.kind(step)) {
                    case ACCEPT -> {
                        from = endHere;
                        fromLast = lastHere;
                    }
                    case CONSUME -> {
                        if (at < end && program.consumes(step, scanner.classOf(at))) {
                            from = nextEnds[level][program.next(step)];
                            fromLast = nextLasts[level][program.next(step)];
                        }
                    }
                    case SPLIT -> {
                        int first = program.next(step);
                        int second = program.other(step);
                        int better = isBetter(own[second], own[first]) ? second : first;
                        from = own[better];
                        fromLast = ownLasts[better];
                    }
                    case AT -> {
                        if (scanner.holds(program.place(step), at)) {
                            from = own[program.next(step)];
                            fromLast = ownLasts[program.next(step)];
                        }
                    }
                    case LOOK -> {
                        if (scanner.lookHolds(program.look(step), at)) {
                            from = own[program.next(step)];
                            fromLast = ownLasts[program.next(step)];
                        }
                    }
                }
                if (from != own[step]) {
                    own[step] = from;
                    ownLasts[step] = fromLast;
                    changed = true;
                }
            }
        }
    }

    private boolean isBetter(int end1, int end2) {
        return end1 != NONE && (end2 == NONE || (shortest ? end1 < end2 : end1 > end2));
    }
}
