package dev.millrace.connectors.file;

import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.connector.Options;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.testing.connector.SourceLives;
import dev.millrace.testing.connector.SourceOutside;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Lives of the source over files that are there from the beginning, as it goes on from positions in those; and sources with a fault, which the suite
 * catches.
 */
class FileSourceConformanceTest {
    private static final int STEPS = 80;

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    @TempDir
    Path folder;

    /** All rows are in three files before reading begins; what the suite adds later it finds there already. */
    private SourceOutside outside(UnaryOperator<Source> fault) {
        return new SourceOutside() {
            @Override
            public Source source() {
                Map<String, String> options = Map.of("path", folder + "/*.json", "format", "json");
                return fault.apply(new FileSourceFactory().create(SCHEMA, new Options(options)));
            }

            @Override
            public void append(long from, long to) {
                try {
                    StringBuilder text = new StringBuilder();
                    for (long id = from; id < to; id++) {
                        text.append("{\"id\": ").append(id).append(", \"name\": \"n\"}\n");
                    }
                    Files.writeString(folder.resolve(String.format("%06d.json", from)), text);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }

            @Override
            public void poison() {}
        };
    }

    private void lives(long seed, UnaryOperator<Source> fault) {
        try {
            try (var files = Files.list(folder)) {
                for (Path file : files.toList()) {
                    Files.delete(file);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        SourceOutside outside = outside(fault);
        outside.append(0, 0);
        Random random = new Random(seed);
        SourceLives lives = new SourceLives(outside, memory.allocator(), seed);
        try (lives) {
            lives.add();
            lives.add();
            lives.add();
            lives.begin();
            for (int step = 0; step < STEPS; step++) {
                switch (random.nextInt(5)) {
                    case 0 -> lives.keep();
                    case 1 -> {
                        lives.crash();
                        lives.begin();
                    }
                    default -> lives.poll();
                }
            }
            lives.givesAll();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void whereverItIsStoppedEachRowCountsOnce(long seed) {
        lives(seed, source -> source);
    }

    /** A source that is another but for how it goes on. */
    private abstract static class Same implements Source {
        final Source source;

        Same(Source source) {
            this.source = source;
        }

        @Override
        public Schema schema() {
            return source.schema();
        }

        @Override
        public boolean bounded() {
            return source.bounded();
        }

        @Override
        public boolean replayable() {
            return source.replayable();
        }

        @Override
        public List<SourceReader> open(ScanRequest request, SourceContext context) {
            return source.open(request, context);
        }
    }

    private void isCaught(UnaryOperator<Source> fault) {
        assertThrows(AssertionError.class, () -> {
            for (int seed = 1; seed <= 4; seed++) {
                lives(seed, fault);
            }
        });
    }

    @Test
    void aSourceThatForgetsASplitIsCaught() {
        isCaught(source -> new Same(source) {
            @Override
            public List<SourceReader> reopen(
                    ScanRequest request, List<SourcePosition> positions, SourceContext context) {
                List<SourceReader> readers = new ArrayList<>(source.reopen(request, positions, context));
                if (!readers.isEmpty()) {
                    readers.remove(readers.size() - 1).close();
                }
                return readers;
            }
        });
    }

    @Test
    void aSourceThatBeginsAnewIsCaught() {
        isCaught(source -> new Same(source) {
            @Override
            public List<SourceReader> reopen(
                    ScanRequest request, List<SourcePosition> positions, SourceContext context) {
                return source.open(request, context);
            }
        });
    }

    @Test
    void aSourceThatAcknowledgesEarlyIsCaught() {
        isCaught(source -> new Same(source) {
            @Override
            public List<SourceReader> reopen(
                    ScanRequest request, List<SourcePosition> positions, SourceContext context) {
                List<SourceReader> readers = source.reopen(request, positions, context);
                readers.get(0).poll().ifPresent(batch -> batch.close()); // was said to be read
                return readers;
            }
        });
    }
}
