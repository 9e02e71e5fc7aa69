package dev.millrace.planner.estimate;

import java.util.Optional;
import java.util.OptionalLong;

/** What is known of a relation's rows at the moment. Asked by the planning thread; answers should come at once. */
public interface RelationStatistics {
    /** Of a relation of which nothing is known. */
    RelationStatistics UNKNOWN = new RelationStatistics() {
        @Override
        public OptionalLong rows() {
            return OptionalLong.empty();
        }

        @Override
        public OptionalLong rowsSoFar() {
            return OptionalLong.empty();
        }

        @Override
        public Optional<ColumnStatistics> column(int column) {
            return Optional.empty();
        }
    };

    /** How many rows there are now, counted; empty of a stream. */
    OptionalLong rows();

    /** How many rows a stream has given, for a query that waits for those to come; empty of what has an end. */
    OptionalLong rowsSoFar();

    /** What is known of a column's values; empty where nothing is. */
    Optional<ColumnStatistics> column(int column);
}
