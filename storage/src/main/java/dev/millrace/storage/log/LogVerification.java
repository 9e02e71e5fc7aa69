package dev.millrace.storage.log;

import dev.millrace.error.MillraceException;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.DiskFile;
import dev.millrace.storage.disk.FileReport;
import dev.millrace.storage.disk.WholeFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads every byte of a log that counts, and goes on behind damage. Changes nothing, and may run beside the log's owner. For one thread.
 *
 * <p>Whatever the owner removes or begins it first says in {@code log.state}: what is found while that changes is looked at once more.
 */
final class LogVerification {
    private static final int MOST_TRIES = 20;
    private static final int MOST_BROKEN = 100; // segments that are looked for in vain

    private final Disk disk;
    private final RecordConsumer consumer;
    private final Map<String, Finding> findings = new TreeMap<>();
    private long first;
    private long last;
    private long before;
    private long records;
    private long bytes;

    /** What was found of one file so far. */
    private static final class Finding {
        private String contents = "";
        private boolean known = true;
        private final List<String> damage = new ArrayList<>();
        private final List<String> notices = new ArrayList<>();
    }

    private LogVerification(Disk disk, RecordConsumer consumer) {
        this.disk = disk;
        this.consumer = consumer;
    }

    /** @param consumers gives one for each time that the log is read from its beginning */
    static LogReport run(Disk disk, Supplier<RecordConsumer> consumers) throws IOException {
        for (int i = 1; ; i++) {
            Optional<ByteBuffer> before = stateBytes(disk);
            LogVerification verification = new LogVerification(disk, consumers.get());
            verification.read();
            LogReport report = verification.report();
            if (report.damage().isEmpty() || i == MOST_TRIES || before.equals(stateBytes(disk))) {
                return report;
            }
        }
    }

    private static Optional<ByteBuffer> stateBytes(Disk disk) throws IOException {
        try (DiskFile file = disk.open(LogState.NAME)) {
            ByteBuffer bytes = ByteBuffer.allocate(SegmentHeader.BYTES);
            file.read(bytes, 0);
            return Optional.of(bytes.flip());
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
    }

    private Finding of(String name) {
        return findings.computeIfAbsent(name, unknown -> new Finding());
    }

    private Finding of(SegmentHeader segment) {
        return of(SegmentHeader.name(segment.number()));
    }

    private void read() throws IOException {
        try {
            LogState state = LogState.read(disk);
            of(LogState.NAME).contents = "segments " + state.first() + " to " + state.newest()
                    + ", durable up to record " + state.durable() + (state.closedAt() == 0 ? "" : ", closed");
            readSegments(state);
            nameOthers(OptionalLong.of(state.newest()));
        } catch (MillraceException e) {
            of(LogState.NAME).damage.add(e.getMessage());
            nameOthers(OptionalLong.empty());
        } catch (NoSuchFileException e) {
            of(LogState.NAME).damage.add(disk.path(LogState.NAME) + " is missing");
            nameOthers(OptionalLong.empty());
        }
    }

    /** Segments that follow each other are read together; one without a header says nothing of what is before it. */
    private void readSegments(LogState state) throws IOException {
        long number = state.newest();
        List<String> names = disk.list();
        if (names.contains(SegmentHeader.name(number + 1))) {
            number++;
        }
        List<SegmentHeader> run = new ArrayList<>();
        boolean isNewest = true;
        int broken = 0;
        while (number >= state.first() && number > 0 && broken < MOST_BROKEN) {
            Optional<SegmentHeader> header = header(state, number);
            if (header.isPresent()) {
                run.add(0, header.get());
                number = header.get().end().segment();
            } else {
                readRun(state, run, isNewest);
                run.clear();
                isNewest = false;
                broken++;
                number--;
            }
        }
        readRun(state, run, isNewest);
    }

    private Optional<SegmentHeader> header(LogState state, long number) throws IOException {
        String name = SegmentHeader.name(number);
        try {
            SegmentHeader header = SegmentHeader.read(disk, state.identity(), number);
            LogReader.checkOrder(disk, header);
            return Optional.of(header);
        } catch (MillraceException e) {
            of(name).damage.add(e.getMessage());
            of(name).contents = "what is in it cannot be told";
            return Optional.empty();
        }
    }

    private void readRun(LogState state, List<SegmentHeader> run, boolean isNewest) throws IOException {
        if (run.isEmpty()) {
            return;
        }
        LogReader log = new LogReader(disk, state, run);
        LogReader.End end = end(log, run.get(run.size() - 1), isNewest);
        last = isNewest ? end.lastWhole() : last;
        before = log.before();
        @Nullable RecordAssembler assembler = null; // null behind damage: the next segment says itself where it begins
        long after = -1; // a record that begins before what is read has no whole bytes here
        for (int i = 0; i < run.size(); i++) {
            SegmentHeader header = run.get(i);
            Tally tally = new Tally();
            try {
                if (assembler == null) {
                    after = LogReader.before(disk, header);
                    assembler = new RecordAssembler(header, after);
                }
                log.read(i, end, assembler, after, tally);
            } catch (MillraceException | IOException e) {
                of(header).damage.add(message(header, e));
                OptionalLong next =
                        i + 1 < run.size() ? OptionalLong.of(run.get(i + 1).lastWhole()) : OptionalLong.empty();
                of(header).notices.add(lost(assembler == null ? header.lastWhole() : assembler.lastWhole(), next));
                assembler = null;
            }
            of(header).contents = tally.contents();
        }
    }

    private String message(SegmentHeader segment, Exception e) {
        return e instanceof IOException unread
                ? disk.path(SegmentHeader.name(segment.number())) + " cannot be read: " + DiskErrors.reason(unread)
                : String.valueOf(e.getMessage());
    }

    private static String lost(long lastWhole, OptionalLong next) {
        return "lost: records from " + (lastWhole + 1)
                + (next.isPresent() && next.getAsLong() > lastWhole ? " to " + next.getAsLong() : " on");
    }

    /** Where what is there ends; of segments whose next one is lost, the last place that can be read. */
    private LogReader.End end(LogReader log, SegmentHeader segment, boolean isNewest) throws IOException {
        if (isNewest) {
            try {
                LogReader.End end = log.end();
                end.notice(disk).ifPresent(of(segment).notices::add);
                return end;
            } catch (MillraceException | IOException e) {
                of(segment).damage.add(message(segment, e));
            }
        } else {
            of(segment).notices.add("where it ends is not known: the segment behind it would say so");
        }
        LogReader.End end = log.endOfWhatIsRead();
        if (isNewest) {
            of(segment).notices.add(lost(end.lastWhole(), OptionalLong.empty()));
        }
        return end;
    }

    /**
     * Files that no record is read from.
     *
     * @param newest number of the newest segment, if that is known
     */
    private void nameOthers(OptionalLong newest) throws IOException {
        for (String name : disk.list()) {
            OptionalLong number = SegmentHeader.numberOf(name);
            if (findings.containsKey(name)) {
                continue;
            }
            Finding finding = of(name);
            if (name.startsWith(LogDirectory.SPARE)) {
                finding.contents = "spare: holds nothing";
            } else if (name.endsWith(".new")) {
                finding.contents = "not finished: does not count";
            } else if (number.isPresent() && newest.isEmpty()) {
                finding.contents = "not read: " + LogState.NAME + " would say what counts in it";
            } else if (number.isPresent() && number.getAsLong() <= newest.getAsLong() + 1) {
                finding.contents = "void: nothing in it counts";
            } else if (number.isPresent()) {
                finding.damage.add(disk.path(SegmentHeader.name(newest.getAsLong() + 1)) + " is missing: there is "
                        + name + " behind it");
            } else {
                finding.known = false;
            }
        }
    }

    private LogReport report() throws IOException {
        List<FileReport> files = new ArrayList<>();
        for (Map.Entry<String, Finding> entry : findings.entrySet()) {
            String name = entry.getKey();
            Finding found = entry.getValue();
            files.add(
                    found.known
                            ? new FileReport(
                                    name,
                                    WholeFile.length(disk, name),
                                    found.contents,
                                    true,
                                    found.damage,
                                    found.notices)
                            : FileReport.unknown(name, WholeFile.length(disk, name)));
        }
        return new LogReport(first, last, before, records, bytes, files);
    }

    /** Counts what is read of a segment, and passes it on. */
    private final class Tally implements RecordConsumer {
        private long from;
        private long to;

        @Override
        public void accept(long number, ByteBuffer contents) {
            throw new IllegalStateException("its place is wanted, too");
        }

        @Override
        public void accept(long number, LogPlace place, ByteBuffer contents) {
            from = from == 0 ? number : from;
            to = number;
            first = records == 0 ? number : first;
            records++;
            bytes += contents.remaining();
            consumer.accept(number, place, contents);
        }

        String contents() {
            return from == 0 ? "no end of a record" : from == to ? "record " + from : "records " + from + " to " + to;
        }
    }
}
