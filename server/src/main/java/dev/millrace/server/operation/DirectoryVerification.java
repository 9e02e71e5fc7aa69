package dev.millrace.server.operation;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.config.ConfigFile;
import dev.millrace.server.history.HistoryVerification;
import dev.millrace.server.journal.JournalVerification;
import dev.millrace.server.role.ScramDecoys;
import dev.millrace.server.storage.CatalogVerification;
import dev.millrace.server.storage.CheckpointVerification;
import dev.millrace.server.storage.DataDirectory;
import dev.millrace.server.storage.KeptCatalog;
import dev.millrace.server.storage.KnownLog;
import dev.millrace.server.storage.SecretsFile;
import dev.millrace.server.storage.ServerAddress;
import dev.millrace.server.tls.Tls;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.FileReport;
import dev.millrace.storage.disk.RealDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Reads every byte of a data directory and says of each file what is in it and whether it is whole. Changes nothing, takes no lock, and
 * may run beside a database that has the directory open. For one thread.
 */
public final class DirectoryVerification {
    private static final String DECOYS = "decoys.key";
    private static final String CERTIFICATE = "server.crt";
    private static final String KEY = "server.key";
    private static final int MOST_TRIES = 5;

    private final Path directory;
    private final List<FileReport> files = new ArrayList<>();

    private DirectoryVerification(Path directory) {
        this.directory = directory;
    }

    /** @throws MillraceException 58P01 if there is no such directory, 58030 where something cannot be read */
    public static DirectoryReport run(Path directory) {
        if (!Files.isDirectory(directory)) {
            throw MillraceException.user(SqlState.UNDEFINED_FILE, directory + " is no directory");
        }
        try {
            return new DirectoryVerification(directory).read();
        } catch (IOException e) {
            throw DiskErrors.failed("read " + directory, e);
        }
    }

    private DirectoryReport read() throws IOException {
        CatalogVerification.Findings definitions = CatalogVerification.run(directory);
        files.addAll(definitions.files());
        files.addAll(rowsAndCheckpoints(definitions));
        histories(definitions).forEach(file -> files.add(file.in(DataDirectory.CHANGES)));
        files.addAll(StreamVerification.run(directory, definitions.catalog()));
        missingSecrets(definitions).ifPresent(files::add);
        files.addAll(SinkVerification.run(directory));
        Map<String, Supplier<FileReport>> others = Map.of(
                DECOYS,
                this::decoys,
                SecretsFile.NAME,
                () -> secrets(definitions),
                CERTIFICATE,
                () -> tls(CERTIFICATE, "the certificate"),
                KEY,
                () -> tls(KEY, "the key of the certificate"),
                ConfigFile.NAME,
                this::configuration,
                BackupList.NAME,
                this::backup);
        try (Stream<Path> list = Files.list(directory)) {
            for (Path entry : list.sorted().toList()) {
                String name = String.valueOf(entry.getFileName());
                boolean isRead = files.stream()
                        .anyMatch(
                                file -> file.name().equals(name) || file.name().startsWith(name + "/"));
                if (!isRead && !(Files.isDirectory(entry) && isEmpty(entry))) {
                    files.add(others.containsKey(name) ? others.get(name).get() : other(entry, name));
                }
            }
        }
        return new DirectoryReport(directory, definitions.user(), files);
    }

    /** Of a database that is open the one may have gone on while the other was read. */
    private List<FileReport> rowsAndCheckpoints(CatalogVerification.Findings definitions) {
        for (int i = 1; ; i++) {
            JournalVerification.Findings rows = JournalVerification.run(directory, definitions.catalog());
            List<FileReport> found = new ArrayList<>(rows.files());
            found.addAll(CheckpointVerification.run(directory, rows::gap));
            boolean isWhole = found.stream().allMatch(FileReport::isWhole);
            if (isWhole || definitions.user().isEmpty() || i == MOST_TRIES) {
                return found;
            }
        }
    }

    /** Of a database that is open some may have come or gone since the definitions were read. */
    private List<FileReport> histories(CatalogVerification.Findings definitions) throws IOException {
        CatalogVerification.Findings now = definitions;
        for (int i = 1; ; i++) {
            List<FileReport> found = HistoryVerification.run(directory.resolve(DataDirectory.CHANGES), known(now));
            boolean isWhole = found.stream().allMatch(FileReport::isWhole);
            if (isWhole || definitions.user().isEmpty() || i == MOST_TRIES) {
                return found;
            }
            now = CatalogVerification.run(directory);
        }
    }

    /** The logs of histories, by the names of their directories. */
    private static Map<String, KnownLog> known(CatalogVerification.Findings definitions) {
        Map<String, KnownLog> known = new TreeMap<>();
        String prefix = DataDirectory.CHANGES + "/";
        definitions
                .catalog()
                .flatMap(KeptCatalog::logs)
                .ifPresent(logs -> logs.forEach((name, log) -> {
                    if (name.startsWith(prefix)) {
                        known.put(name.substring(prefix.length()), log);
                    }
                }));
        return known;
    }

    private static boolean isEmpty(Path entry) throws IOException {
        try (Stream<Path> list = Files.list(entry)) {
            return list.findAny().isEmpty();
        }
    }

    private static FileReport other(Path entry, String name) throws IOException {
        if (name.equals(ServerAddress.NAME)) {
            return FileReport.whole(name, Files.size(entry), "where its server listens");
        }
        if (Files.isDirectory(entry)) {
            try (Stream<Path> inside = Files.walk(entry)) {
                long count = inside.filter(Files::isRegularFile).count();
                return new FileReport(
                        name, 0, "no directory of Millrace's, of " + count + " files", false, List.of(), List.of());
            }
        }
        return name.endsWith(".new")
                ? FileReport.whole(name, Files.size(entry), "not finished: does not count")
                : FileReport.unknown(name, Files.size(entry));
    }

    private long bytes(String name) {
        try {
            return Files.size(directory.resolve(name));
        } catch (IOException e) {
            throw DiskErrors.failed("read " + directory.resolve(name), e);
        }
    }

    /** Random bytes without a checksum: another 32 would do. */
    private FileReport decoys() {
        String contents = "what is shown to clients of unknown roles";
        long bytes = bytes(DECOYS);
        return bytes == ScramDecoys.KEY_BYTES
                ? FileReport.whole(DECOYS, bytes, contents)
                : FileReport.damaged(
                        DECOYS,
                        bytes,
                        contents,
                        directory.resolve(DECOYS) + " is damaged: it has " + bytes + " bytes, and "
                                + ScramDecoys.KEY_BYTES + " were written");
    }

    private FileReport secrets(CatalogVerification.Findings definitions) {
        return checked(SecretsFile.NAME, "secrets", () -> {
            try {
                RealDisk disk = RealDisk.readOnly(directory);
                Optional<SecretsFile.Contents> found = SecretsFile.read(disk);
                misfit(definitions, found).ifPresent(what -> {
                    throw MillraceException.external(SqlState.DATA_CORRUPTED, what);
                });
                return found.map(contents -> contents.texts().size()).orElse(0) + " of them";
            } catch (IOException e) {
                throw DiskErrors.failed("read " + directory.resolve(SecretsFile.NAME), e);
            }
        });
    }

    private Optional<FileReport> missingSecrets(CatalogVerification.Findings definitions) throws IOException {
        return Files.exists(directory.resolve(SecretsFile.NAME))
                ? Optional.empty()
                : misfit(definitions, Optional.empty())
                        .map(what -> FileReport.damaged(SecretsFile.NAME, 0, "secrets", what));
    }

    private Optional<String> misfit(CatalogVerification.Findings definitions, Optional<SecretsFile.Contents> found)
            throws IOException {
        Optional<KnownLog> known =
                definitions.catalog().flatMap(KeptCatalog::logs).map(logs -> logs.get(SecretsFile.NAME));
        return SecretsFile.misfit(RealDisk.readOnly(directory), found, known);
    }

    private FileReport tls(String name, String contents) {
        if (!Files.exists(directory.resolve(CERTIFICATE)) || !Files.exists(directory.resolve(KEY))) {
            return new FileReport(
                    name,
                    bytes(name),
                    contents,
                    true,
                    List.of(),
                    List.of("its " + (name.equals(KEY) ? CERTIFICATE : KEY) + " is missing: a server makes both anew"));
        }
        return checked(name, contents, () -> Tls.verify(directory));
    }

    private FileReport configuration() {
        return checked(ConfigFile.NAME, "the server's configuration", () -> {
            ConfigFile.read(Optional.of(directory.resolve(ConfigFile.NAME)), Map.of());
            return "";
        });
    }

    private FileReport backup() {
        String contents = "this is a backup: its files and their checksums";
        long bytes = bytes(BackupList.NAME);
        try {
            List<String> damage = BackupList.read(RealDisk.readOnly(directory)).verify(directory);
            return new FileReport(BackupList.NAME, bytes, contents, true, damage, List.of());
        } catch (MillraceException e) {
            return FileReport.damaged(BackupList.NAME, bytes, contents, String.valueOf(e.getMessage()));
        } catch (IOException e) {
            throw DiskErrors.failed("read " + directory, e);
        }
    }

    /** A file that is whole if it can be used. */
    private FileReport checked(String name, String contents, Supplier<String> use) {
        long bytes = bytes(name);
        try {
            String more = use.get();
            return FileReport.whole(name, bytes, more.isEmpty() ? contents : contents + ", " + more);
        } catch (RuntimeException e) { // of libraries, which say of damaged bytes what they like
            return FileReport.damaged(name, bytes, contents, directory.resolve(name) + ": " + e.getMessage());
        }
    }
}
