package dev.millrace.server.simulation;

import java.util.List;
import java.util.Map;

/** What a statement defined. */
sealed interface ModelObject {
    String name();

    /** What it is made from, by names. */
    default List<String> inputs() {
        return List.of();
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

    /** A stream with columns k and v, and perhaps ts. @param rows by which number the model knows what was inserted */
    record Stream(String name, int rows, boolean isTimed) implements ModelObject {}

    /**
     * A view.
     *
     * @param since how many rows streams had had when it began, by their numbers; nothing of a view that keeps nothing
     */
    record View(
            String name,
            boolean isMaterialized,
            ViewShape shape,
            int number,
            List<String> inputs,
            Map<Integer, Integer> since,
            boolean isPaused)
            implements ModelObject {
        View paused(boolean now) {
            return new View(name, isMaterialized, shape, number, inputs, since, now);
        }

        View since(Map<Integer, Integer> lengths) {
            return new View(name, isMaterialized, shape, number, inputs, lengths, isPaused);
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
