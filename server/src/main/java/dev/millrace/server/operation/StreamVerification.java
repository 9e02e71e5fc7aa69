package dev.millrace.server.operation;

import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.server.retention.RetentionClause;
import dev.millrace.server.storage.CheckpointVerification;
import dev.millrace.server.storage.DataDirectory;
import dev.millrace.server.storage.KeptCatalog;
import dev.millrace.server.storage.KeptObject;
import dev.millrace.sql.Frontend;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.catalog.Catalog;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.storage.disk.FileReport;
import dev.millrace.storage.disk.RealDisk;
import dev.millrace.storage.log.WriteAheadLog;
import dev.millrace.storage.retention.KnownPast;
import dev.millrace.storage.retention.RetentionVerification;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;

/** Reads every byte of what streams have kept, and changes nothing. */
final class StreamVerification {
    private StreamVerification() {}

    /** @param catalog by whose definitions the files are read; without it they are not */
    static List<FileReport> run(Path directory, Optional<KeptCatalog> catalog) throws IOException {
        Map<Long, Long> expected = CheckpointVerification.streams(directory);
        OptionalLong log = log(directory);
        Path streams = directory.resolve(DataDirectory.STREAMS);
        List<FileReport> files = new ArrayList<>();
        Set<String> seen = new HashSet<>();
        for (KeptObject object : catalog.map(KeptCatalog::objects).orElse(List.of())) {
            Optional<Schema> schema = object.number().isPresent() ? retained(object) : Optional.empty();
            if (schema.isPresent()) {
                String number = String.valueOf(object.number().getAsLong());
                String name = DataDirectory.STREAMS + "/" + number;
                seen.add(number);
                if (Files.isDirectory(streams.resolve(number))) {
                    RetentionVerification.run(
                                    RealDisk.readOnly(streams.resolve(number)),
                                    schema.get(),
                                    new KnownPast(
                                            log,
                                            expected.getOrDefault(
                                                    object.number().getAsLong(), 0L)))
                            .forEach(file -> files.add(file.in(name)));
                } else {
                    files.add(FileReport.damaged(
                            name,
                            0,
                            "rows of stream \"" + object.name() + "\"",
                            streams.resolve(number) + " is missing"));
                }
            }
        }
        if (Files.isDirectory(streams)) {
            try (Stream<Path> list = Files.walk(streams)) {
                for (Path file : list.filter(Files::isRegularFile).sorted().toList()) {
                    Path inside = streams.relativize(file);
                    if (!seen.contains(inside.getName(0).toString())) {
                        files.add(other(DataDirectory.STREAMS + "/" + inside, file, catalog.isPresent()));
                    }
                }
            }
        }
        return files;
    }

    private static OptionalLong log(Path directory) throws IOException {
        Path rows = directory.resolve(DataDirectory.ROWS);
        return Files.isDirectory(rows) ? WriteAheadLog.identity(RealDisk.readOnly(rows)) : OptionalLong.empty();
    }

    private static FileReport other(String name, Path file, boolean isKnown) throws IOException {
        return FileReport.whole(
                name,
                Files.size(file),
                isKnown
                        ? "of a stream that is gone: does not count"
                        : "not read: the definitions would say of what it is");
    }

    /** The columns of a stream that keeps its rows; empty for all else, and for what cannot be understood any more. */
    private static Optional<Schema> retained(KeptObject object) {
        if (!object.kind().equals(ObjectKind.STREAM.sqlName())) {
            return Optional.empty();
        }
        try {
            Frontend frontend = new Frontend();
            Statement statement =
                    frontend.analyze(frontend.parse(object.sql()).get(0), new NothingDefined(), Parameters.none());
            return statement instanceof Statement.CreateStream create
                            && RetentionClause.of(new Options(create.options())).isPresent()
                    ? Optional.of(new Schema(create.columns()))
                    : Optional.empty();
        } catch (MillraceException e) {
            return Optional.empty(); // it will not be restored, and opening says why
        }
    }

    private static final class NothingDefined implements Catalog {
        @Override
        public Optional<Relation> relation(String name) {
            return Optional.empty();
        }

        @Override
        public Collection<String> relationNames() {
            return List.of();
        }
    }
}
