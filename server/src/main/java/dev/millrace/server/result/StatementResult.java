package dev.millrace.server.result;

import dev.millrace.batch.Batch;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.server.copy.CopyOptions;
import dev.millrace.server.rows.ChangeRows;
import dev.millrace.type.Schema;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * What a statement gave. Belongs to the session's thread; close it before the next statement (closing is idempotent, and a
 * session that goes on closes what was left open).
 */
public sealed interface StatementResult extends AutoCloseable {

    /**
     * A statement without rows.
     *
     * @param tag as PostgreSQL's command tag, without a count: {@code INSERT}, {@code CREATE STREAM}
     * @param rows how many rows it wrote, for those that write
     */
    record Command(String tag, OptionalLong rows) implements StatementResult {
        public static Command of(String tag) {
            return new Command(tag, OptionalLong.empty());
        }

        public static Command of(String tag, long rows) {
            return new Command(tag, OptionalLong.of(rows));
        }

        /** The whole command tag: {@code INSERT 0 3}. */
        @Override
        public String toString() {
            if (rows.isEmpty()) {
                return tag;
            }
            return tag.equals("INSERT") ? "INSERT 0 " + rows.getAsLong() : tag + " " + rows.getAsLong();
        }

        @Override
        public void close() {}
    }

    /** Finitely many rows, read while they are made. */
    public non-sealed interface Rows extends StatementResult {
        Schema schema();

        /**
         * The next rows, none of them empty and without weights; the caller closes them. Waits for them. Empty at the end.
         *
         * @throws dev.millrace.error.MillraceException if the statement failed or was cancelled (57014)
         */
        Optional<Batch> next();

        /** Gives each batch of what is left to {@code use}, and closes it after. */
        default void forEach(Consumer<Batch> use) {
            for (Optional<Batch> next = next(); next.isPresent(); next = next()) {
                try (Batch batch = next.get()) {
                    use.accept(batch);
                }
            }
        }

        @Override
        void close();
    }

    /** The changes of an answer, for as long as they are wanted. */
    public non-sealed interface Changes extends StatementResult {
        /** The columns of the answer, without those that say what happened to the row: that is in the weights. */
        Schema schema();

        /** Whether the query only ever adds rows. */
        boolean appendOnly();

        /**
         * The next epoch with changes (or, WITH PROGRESS, without); the caller closes it. Waits at most so long; empty when
         * nothing came, or nothing ever will.
         *
         * @throws dev.millrace.error.MillraceException if the query failed or the statement was cancelled (57014)
         */
        Optional<EpochChanges> next(long timeoutMicros);

        /** How the changes are shown as rows, to who wants rows. */
        ChangeRows.Form form();

        /** Whether the subscriber fell too far behind, which {@link #next} says as soon as it can. On any thread. */
        default boolean isOverrun() {
            return false;
        }

        /** Whether everything was taken and no more comes. */
        boolean isFinished();

        @Override
        void close();
    }

    /** COPY FROM STDIN, which takes the rows as they come. Closing it before {@link #finish} gives the copy up. */
    public non-sealed interface CopyIn extends StatementResult {
        int columns();

        boolean binary();

        /**
         * Takes more bytes, cut anywhere. Waits while queries that read the relation are behind.
         *
         * @throws dev.millrace.error.MillraceException for a row that cannot be read; the copy is over
         */
        void write(long address, int length);

        /** All came: makes the rows take effect, as far as they have not, and says how many they are. */
        long finish();

        @Override
        void close();
    }

    /** COPY TO STDOUT: the rows of {@code source} in the form that the options say; closing it closes the source. */
    record CopyOut(StatementResult source, CopyOptions options) implements StatementResult {
        @Override
        public void close() {
            source.close();
        }
    }

    @Override
    void close();
}
