package example;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Vectors;
import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceFactory;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;

/** The source {@code random_walk}: steps up and down, the same ones for each query. It knows its position, so a query goes on after a restart. */
public final class RandomWalkSourceFactory implements SourceFactory {
    private static final Schema COLUMNS = Schema.of(
            new Field("step", DataType.BIGINT, false), new Field("height", DataType.BIGINT, false));

    @Override
    public String name() {
        return "random_walk";
    }

    @Override
    public Source create(Schema declared, Options options) {
        if (declared.size() > 0 && !declared.equals(COLUMNS)) {
            throw MillraceException.user(
                    SqlState.INVALID_TABLE_DEFINITION,
                    "connector random_walk has the columns step BIGINT NOT NULL, height BIGINT NOT NULL");
        }
        Walk walk = new Walk(
                options.integer("rows", Long.MAX_VALUE, 0, Long.MAX_VALUE), options.integer("seed", 1, 0, Long.MAX_VALUE));
        options.rejectUnread();
        return walk;
    }

    @Override
    public List<OptionDescription> options() {
        return List.of(
                new OptionDescription("rows", "without end", "how many steps there are"),
                new OptionDescription("seed", "1", "another seed is another walk"));
    }

    private record Walk(long rows, long seed) implements Source {
        @Override
        public Schema schema() {
            return COLUMNS;
        }

        @Override
        public boolean bounded() {
            return rows < Long.MAX_VALUE;
        }

        @Override
        public boolean replayable() {
            return true;
        }

        @Override
        public List<SourceReader> open(ScanRequest request, SourceContext context) {
            return List.of(new Reader(this, request, context));
        }

        @Override
        public List<SourceReader> reopen(ScanRequest request, List<SourcePosition> positions, SourceContext context) {
            long step = positions.get(0).read("random_walk", 1, in -> in.readLong());
            Reader reader = new Reader(this, request, context);
            reader.passTo(step);
            return List.of(reader);
        }
    }

    private static final class Reader implements SourceReader {
        private final Walk walk;
        private final ScanRequest request;
        private final SourceContext context;
        private final SplittableRandom random;
        private long step;
        private long height;

        Reader(Walk walk, ScanRequest request, SourceContext context) {
            this.walk = walk;
            this.request = request;
            this.context = context;
            this.random = new SplittableRandom(walk.seed());
        }

        private void go() {
            step++;
            height += random.nextBoolean() ? 1 : -1;
        }

        void passTo(long wanted) {
            while (step < wanted) {
                go();
            }
        }

        @Override
        public Optional<Batch> poll() {
            int rows = (int) Math.min(context.batchRows(), walk.rows() - step);
            if (rows == 0) {
                return Optional.empty();
            }
            long[][] values = new long[2][rows];
            for (int row = 0; row < rows; row++) {
                go();
                values[0][row] = step;
                values[1][row] = height;
            }
            FieldVector[] vectors = new FieldVector[request.columns().size()];
            for (int i = 0; i < vectors.length; i++) {
                int column = request.columns().get(i);
                BigIntVector vector = (BigIntVector) Vectors.allocate(COLUMNS.field(column), rows, 0, context.allocator());
                for (int row = 0; row < rows; row++) {
                    vector.set(row, values[column][row]);
                }
                vector.setValueCount(rows);
                vectors[i] = vector;
            }
            return Optional.of(Batch.of(COLUMNS.select(request.columns()), vectors, rows));
        }

        @Override
        public boolean isFinished() {
            return step == walk.rows();
        }

        @Override
        public long retryAfterMicros() {
            return 0;
        }

        @Override
        public Optional<SourcePosition> position() {
            return Optional.of(SourcePosition.of("random_walk", 1, out -> out.writeLong(step)));
        }

        @Override
        public void close() {}
    }
}
