package dev.millrace.connectors.file;

import dev.millrace.connector.Options;
import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkContext;
import dev.millrace.connector.SinkFactory;
import dev.millrace.testing.connector.AtLeastOnceConformance;
import dev.millrace.testing.connector.AtLeastOnceFault;
import dev.millrace.testing.connector.AtLeastOnceOutside;
import dev.millrace.testing.connector.ConformanceOf;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Sinks that write lines: to a file, in which a restart goes on, and to the output of the process. */
@ConformanceOf({"sink file", "sink print", "sink stdout"})
class LineSinksConformanceTest {
    /** What is written is there at once: nobody can refuse it, or be away. */
    private record Lines(SinkFactory factory, Map<String, String> options, Supplier<String> written)
            implements AtLeastOnceOutside {
        @Override
        public Sink open(SinkContext context) {
            return factory.open(SCHEMA, true, new Options(options), context);
        }

        @Override
        public List<Long> came() {
            return written.get()
                    .lines()
                    .map(line -> Long.valueOf(line.replaceAll("\\D+", "")))
                    .toList();
        }
    }

    private abstract static class OfLines extends AtLeastOnceConformance {
        @ParameterizedTest
        @EnumSource(names = "DROPS_WHAT_IS_REFUSED", mode = EnumSource.Mode.EXCLUDE)
        void faultsAreCaught(AtLeastOnceFault fault) {
            catches(fault);
        }
    }

    @Nested
    class OfFile extends OfLines {
        @TempDir
        Path folder;

        @Override
        protected AtLeastOnceOutside outside() {
            Path file = folder.resolve("lines");
            return new Lines(new FileSinkFactory(), Map.of("path", "" + file, "format", "json"), () -> {
                try {
                    return Files.readString(file);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }

    @Nested
    class OfPrint extends OfLines {
        @Override
        protected AtLeastOnceOutside outside() {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            PrintStream printed = new PrintStream(out, false, StandardCharsets.UTF_8);
            return new Lines(new PrintSinkFactory(printed), Map.of(), () -> out.toString(StandardCharsets.UTF_8));
        }
    }

    @Nested
    class OfStdout extends OfLines {
        @Override
        protected AtLeastOnceOutside outside() {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            PrintStream printed = new PrintStream(out, false, StandardCharsets.UTF_8);
            return new Lines(new StdoutSinkFactory(printed), Map.of(), () -> out.toString(StandardCharsets.UTF_8));
        }
    }
}
