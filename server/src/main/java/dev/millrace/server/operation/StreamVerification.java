package dev.millrace.server.operation;

import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.server.retention.RetentionClause;
import dev.millrace.server.script.DefinitionScript;
import dev.millrace.server.storage.CheckpointVerification;
import dev.millrace.server.storage.DataDirectory;
import dev.millrace.server.storage.KeptCatalog;
import dev.millrace.server.storage.KeptObject;
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
        Set<String> derived = new HashSet<>(); // of which nobody knows the columns
        Collection<KeptObject> objects = catalog.map(KeptCatalog::objects).orElse(List.of());
        KnownRelations relations = new KnownRelations(ofInterest(objects));
        for (KeptObject object : objects) {
            Optional<Schema> schema = object.number().isPresent() ? retained(object, relations) : Optional.empty();
            if (schema.isEmpty() && object.number().isPresent() && isDerived(object)) {
                derived.add(String.valueOf(object.number().getAsLong()));
            }
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
                        boolean isKnown = catalog.isPresent()
                                && !derived.contains(inside.getName(0).toString());
                        files.add(other(DataDirectory.STREAMS + "/" + inside, file, isKnown));
                    }
                }
            }
        }
        return files;
    }

    /** Streams, and if a query fills one, what that may read. */
    private static List<KeptObject> ofInterest(Collection<KeptObject> objects) {
        boolean hasDerived = objects.stream().anyMatch(StreamVerification::isDerived);
        return objects.stream()
                .filter(object -> hasDerived || object.kind().equals(ObjectKind.STREAM.sqlName()))
                .toList();
    }

    private static boolean isDerived(KeptObject object) {
        return DefinitionScript.isDerived(object.kind(), object.sql());
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
    private static Optional<Schema> retained(KeptObject object, KnownRelations relations) {
        if (!object.kind().equals(ObjectKind.STREAM.sqlName())) {
            return Optional.empty();
        }
        Optional<Statement> statement = relations.statement(object);
        try {
            if (statement.isPresent() && statement.get() instanceof Statement.CreateStream create) {
                return RetentionClause.of(new Options(create.options())).map(clause -> new Schema(create.columns()));
            } else if (statement.isPresent() && statement.get() instanceof Statement.CreateStreamAs create) {
                return RetentionClause.of(new Options(create.options()))
                        .map(clause -> create.query().schema());
            }
            return Optional.empty();
        } catch (MillraceException e) {
            return Optional.empty(); // it will not be restored, and opening says why
        }
    }
}
