package dev.millrace.server.simulation;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a statement defined. */
sealed interface ModelObject {
    String name();

    /** What it is made from, by names. */
    default List<String> inputs() {
        return List.of();
    }

    /** What it goes with when that is dropped: what it is made from, and in whose place it is to come. */
    default List<String> requires() {
        return inputs();
    }

    /**
     * A table with columns k and v, and more that were added.
     *
     * @param rows by which number the model knows its rows
     * @param added names of the other columns
     * @param defaults of these
     * @param isKeyed whether k is its primary key
     */
    record Table(String name, int rows, boolean isKeyed, List<String> added, List<Long> defaults)
            implements ModelObject {}

    /**
     * A stream with columns k and v, and perhaps ts.
     *
     * @param rows by which number the model knows what was inserted
     * @param isWide whether its rows have a long text beside
     * @param isRetained whether it keeps its rows
     */
    record Stream(String name, int rows, boolean isTimed, boolean isWide, boolean isRetained) implements ModelObject {
        /** The columns of which rows are given. */
        String columns() {
            return "k, v" + (isTimed ? ", ts" : "") + (isWide ? ", pad" : "");
        }
    }

    /**
     * A view.
     *
     * @param since how many rows streams had had where it began, by their numbers; nothing of a view that keeps nothing
     * @param until how many rows its streams had had where it ends, by their numbers; nothing of a view that goes on
     * @param leftOut up to how many rows of its stream those were left out that failed
     * @param bornIn when the database was opened of which it was made
     * @param replaces the view in whose place it is to come; empty of others
     */
    record View(
            String name,
            boolean isMaterialized,
            ViewShape shape,
            int number,
            List<String> inputs,
            Map<Integer, Integer> since,
            Map<Integer, Integer> until,
            boolean isPaused,
            int leftOut,
            int bornIn,
            String replaces)
            implements ModelObject {
        @Override
        public List<String> requires() {
            List<String> all = new ArrayList<>(inputs);
            if (!replaces.isEmpty()) {
                all.add(replaces);
            }
            return all;
        }

        View paused(boolean now) {
            return new View(name, isMaterialized, shape, number, inputs, since, until, now, leftOut, bornIn, replaces);
        }

        View leavingOut(int rows) {
            return new View(
                    name, isMaterialized, shape, number, inputs, since, until, isPaused, rows, bornIn, replaces);
        }

        View notAheadOf(Map<Integer, List<ModelRow>> rows) {
            Map<Integer, Integer> there = new LinkedHashMap<>(since);
            there.replaceAll((stream, count) ->
                    Math.min(count, rows.getOrDefault(stream, List.of()).size()));
            return new View(
                    name, isMaterialized, shape, number, inputs, there, until, isPaused, leftOut, bornIn, replaces);
        }

        /** The same in the place of another. */
        View inPlaceOf(String other) {
            return new View(other, isMaterialized, shape, number, inputs, since, until, isPaused, leftOut, bornIn, "");
        }

        boolean ends() {
            return !until.isEmpty();
        }
    }

    /**
     * A sink that prints k and v of a stream.
     *
     * @param number which it alone has, and its lines begin with
     * @param since how many rows the stream had had when it began
     */
    record Sink(String name, String stream, int number, int since) implements ModelObject {
        @Override
        public List<String> inputs() {
            return List.of(stream);
        }

        String prefix() {
            return "sink " + number + ":";
        }
    }

    /**
     * A stream that a query of another stream fills, and that keeps its rows.
     *
     * @param since how many rows the other had had where the query began
     */
    record Derived(String name, ViewShape shape, int number, String stream, int since) implements ModelObject {
        @Override
        public List<String> inputs() {
            return List.of(stream);
        }

        String sql() {
            return shape.sql(inputs(), number);
        }
    }

    /** A durable subscription to a view. @param number by which its client is known */
    record Durable(String name, String view, int number) implements ModelObject {
        @Override
        public List<String> inputs() {
            return List.of(view);
        }
    }

    /** An index of a table. */
    record Index(String name, String table) implements ModelObject {
        @Override
        public List<String> inputs() {
            return List.of(table);
        }
    }
}
