package dev.millrace.connectors.file;

import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.connector.Options;
import dev.millrace.connector.Source;
import dev.millrace.testing.connector.SourceFault;
import dev.millrace.testing.connector.SourceLives;
import dev.millrace.testing.connector.SourceOutside;
import dev.millrace.testing.memory.LeakCheck;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
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
    private SourceOutside outside(SourceFault fault) {
        return new SourceOutside() {
            @Override
            public Source source() {
                Map<String, String> options = Map.of("path", folder + "/*.json", "format", "json");
                return fault.in(new FileSourceFactory().create(SCHEMA, new Options(options)));
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

    private void lives(long seed, SourceFault fault) {
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
        lives(seed, SourceFault.NONE);
    }

    @ParameterizedTest
    @EnumSource(names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void faultsAreCaught(SourceFault fault) {
        assertThrows(AssertionError.class, () -> {
            for (int seed = 1; seed <= 4; seed++) {
                lives(seed, fault);
            }
        });
    }
}
