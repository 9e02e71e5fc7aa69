package dev.millrace.connectors.s3;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Part;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.connector.SplitStatus;
import dev.millrace.connectors.input.FileFormat;
import dev.millrace.connectors.s3.ObjectFetcher.Answer;
import dev.millrace.connectors.split.RecentRate;
import dev.millrace.error.MillraceException;
import dev.millrace.kept.FormedBytes;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Reads objects one after the other, each a part of its own, from copies on the local disk; the next is fetched meanwhile. Perhaps looks for new ones for ever.
 *
 * <pre>
 *   [ fetch -> open the copy -> its batches -> remove the copy ]* -> [ look for new ones -> fetch .. ]*
 * </pre>
 */
final class ObjectReader implements SourceReader {
    private static final String FORM = "objects";
    private static final int VERSION = 1;
    private static final long WOKEN_MICROS = 1_000_000; // by who fetches

    private record Current(StoredObject object, Path file, SourceReader reader) {}

    private final FileFormat format;
    private final ScanRequest request;
    private final SourceContext context;
    private final ObjectPaths paths;
    private final ObjectFetcher fetcher;
    private final Optional<NewObjects> news;
    private final Deque<StoredObject> waiting = new ArrayDeque<>();
    private final RecentRate rate; // held while it is used, by readers and by who asks how fast it goes
    private Optional<StoredObject> fetching = Optional.empty(); // the first of those that wait
    private Optional<SourcePosition> inside = Optional.empty(); // where reading begins in that
    private Optional<Current> current = Optional.empty();
    private Part part = Part.WHOLE;
    private double totalBytes;
    private double doneBytes;
    private volatile long rows; // by the reader's thread, read by who asks; so are the following
    private volatile String place = "";
    private volatile long waitingObjects;
    private boolean closed;

    /** @param news if new ones are looked for; else it ends with those given */
    ObjectReader(
            FileFormat format,
            StoreOptions store,
            ObjectPaths paths,
            Optional<NewObjects> news,
            ScanRequest request,
            SourceContext context) {
        this.format = format;
        this.request = new ScanRequest(request.columns(), request.predicates(), 1);
        this.context = context;
        this.paths = paths;
        this.news = news;
        this.fetcher = new ObjectFetcher(store, paths, context::wakeUp);
        this.rate = new RecentRate(context.clock().nanoTime());
    }

    /** These are read, behind those that were added before. */
    ObjectReader add(Collection<StoredObject> objects) {
        waiting.addAll(objects);
        for (StoredObject object : objects) {
            totalBytes += object.bytes();
        }
        waitingObjects = waiting.size();
        return this;
    }

    /** Goes on where another reader was, before anything was added. */
    ObjectReader goOn(SourcePosition position) {
        return position.read(FORM, VERSION, in -> {
            part = new Part(in.readLong(), Part.UNKNOWN, Part.NONE);
            if (in.readBoolean()) {
                byte[] bytes = new byte[FormedBytes.count(in, 1)];
                in.readFully(bytes);
                inside = Optional.of(new SourcePosition(bytes));
            }
            for (int left = FormedBytes.count(in, StoredObject.LEAST_BYTES); left > 0; left--) {
                add(List.of(StoredObject.read(in)));
            }
            if (inside.isPresent() && waiting.isEmpty()) {
                throw new IllegalArgumentException("a place in no object");
            }
            if (in.readBoolean() != news.isPresent()) {
                throw new IllegalArgumentException("new objects are looked for, or are not");
            }
            for (int left = news.isPresent() ? FormedBytes.count(in, Long.BYTES) : 0; left > 0; left--) {
                news.get().know(in.readLong());
            }
            return this;
        });
    }

    /**
     * The number of the part, 8 bytes; whether an object is being read, 1 byte, then the length of the position in it, 4 bytes, and that; how many objects are to be read,
     * 4 bytes, and each, the one being read first: bucket, key and tag as {@code writeUTF}, its bytes and the time it was written, 8 bytes each; whether new ones are looked
     * for, 1 byte, then how many are known, 4 bytes, and the print of each, 8 bytes.
     */
    @Override
    public Optional<SourcePosition> position() {
        Optional<SourcePosition> where =
                current.isPresent() ? current.get().reader().position() : inside;
        if (current.isPresent() && where.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(SourcePosition.of(FORM, VERSION, out -> {
            out.writeLong(current.isPresent() ? part.number() - 1 : part.number());
            out.writeBoolean(where.isPresent());
            if (where.isPresent()) {
                byte[] bytes = where.get().bytes();
                out.writeInt(bytes.length);
                out.write(bytes);
            }
            writeLeft(out);
            out.writeBoolean(news.isPresent());
            if (news.isPresent()) {
                news.get().write(out);
            }
        }));
    }

    private void writeLeft(DataOutput out) throws IOException {
        out.writeInt(waiting.size() + (current.isPresent() ? 1 : 0) + (fetching.isPresent() ? 1 : 0));
        if (current.isPresent()) {
            current.get().object().write(out);
        }
        if (fetching.isPresent()) {
            fetching.get().write(out);
        }
        for (StoredObject object : waiting) {
            object.write(out);
        }
    }

    @Override
    public Optional<Batch> poll() {
        while (!closed) {
            ask();
            if (current.isPresent()) {
                Optional<Batch> batch = read(current.get());
                if (batch.isPresent() || !current.get().reader().isFinished()) {
                    return batch;
                }
                closeCurrent();
                continue;
            }
            Optional<Answer> answer = fetcher.take();
            if (answer.isEmpty()) {
                return Optional.empty();
            }
            accept(answer.get());
        }
        return Optional.empty();
    }

    /** Has what is next fetched, ahead of its being read, or looks for new objects. */
    private void ask() {
        if (!fetcher.isIdle() || fetching.isPresent()) {
            return;
        }
        if (!waiting.isEmpty()) {
            StoredObject next = waiting.remove();
            waitingObjects = waiting.size();
            fetching = Optional.of(next);
            fetcher.fetch(next);
        } else if (current.isEmpty()
                && news.isPresent()
                && news.get().isDue(context.clock().nanoTime())) {
            fetcher.list();
        }
    }

    private void accept(Answer answer) {
        if (answer instanceof Answer.Fetched fetched) {
            fetching = Optional.empty();
            open(fetched.object(), fetched.file());
        } else if (answer instanceof Answer.Lost lost) {
            fetching = Optional.empty();
            inside = Optional.empty();
            lost(lost);
        } else if (answer instanceof Answer.Listed listed) {
            add(news.orElseThrow().among(listed.objects(), context.clock().nanoTime()));
        } else if (answer instanceof Answer.Failed failed) {
            throw failed.why();
        }
    }

    /** Of objects that are looked for, one may go before it is read, or come again as another, which is found then. */
    private void lost(Answer.Lost lost) {
        if (news.isEmpty()) {
            throw lost.why();
        }
        context.report(new RejectedRecord(
                lost.object().name().toString(),
                0,
                "",
                String.valueOf(lost.why().getMessage()),
                lost.why().sqlState(),
                ""));
    }

    private void open(StoredObject object, Path file) {
        place = object.name().toString();
        Optional<SourcePosition> from = inside;
        inside = Optional.empty();
        try {
            SourceContext named = new NamedContext(context, object.name());
            SourceReader reader = from.isPresent()
                    ? format.reopen(from.get(), path -> file, request, named)
                    : format.open(List.of(file), request, named).get(0);
            current = Optional.of(new Current(object, file, reader));
        } catch (MillraceException e) {
            LocalCopies.remove(file);
            throw named(e, object, file);
        } catch (RuntimeException | Error e) {
            LocalCopies.remove(file);
            throw e;
        }
        part = new Part(part.number() + 1, Part.UNKNOWN, waiting.isEmpty() ? Part.NONE : Part.UNKNOWN);
    }

    private Optional<Batch> read(Current from) {
        Optional<Batch> batch;
        try {
            batch = from.reader().poll();
        } catch (MillraceException e) {
            throw named(e, from.object(), from.file());
        }
        if (batch.isPresent()) {
            int count = batch.get().rowCount();
            rows += count;
            synchronized (rate) {
                rate.add(count, context.clock().nanoTime());
            }
        }
        return batch;
    }

    /** What is wrong with a copy is wrong with its object. */
    private static MillraceException named(MillraceException e, StoredObject object, Path file) {
        String said = String.valueOf(e.getMessage());
        if (!said.contains(file.toString())) {
            return e;
        }
        String named = said.replace(file.toString(), object.name().toString());
        MillraceException made = e.fault() == MillraceException.Fault.EXTERNAL
                ? MillraceException.external(e.sqlState(), named, e)
                : MillraceException.user(e.sqlState(), named);
        return e.hint().map(made::withHint).orElse(made);
    }

    @Override
    public Part part() {
        return part;
    }

    @Override
    public boolean isFinished() {
        return closed
                || news.isEmpty() && current.isEmpty() && fetching.isEmpty() && waiting.isEmpty() && inside.isEmpty();
    }

    @Override
    public long retryAfterMicros() {
        if (current.isPresent()) {
            return current.get().reader().retryAfterMicros();
        }
        return fetcher.isIdle() && news.isPresent()
                ? Math.min(WOKEN_MICROS, news.get().dueMicros(context.clock().nanoTime()))
                : WOKEN_MICROS;
    }

    @Override
    public double progress() {
        if (isFinished()) {
            return 1;
        }
        double inCurrent = current.map(one ->
                        Math.max(0, one.reader().progress()) * one.object().bytes())
                .orElse(0.0);
        return news.isPresent() || totalBytes == 0 ? -1 : Math.min(1, (doneBytes + inCurrent) / totalBytes);
    }

    @Override
    public List<SplitStatus> splits() {
        ObjectFetcher.State state = fetcher.state();
        double perSecond;
        synchronized (rate) {
            perSecond = rate.perSecond(context.clock().nanoTime());
        }
        Optional<String> waitsFor =
                state.retries() > 0 ? Optional.of("the store of " + paths) : Optional.<String>empty();
        return List.of(new SplitStatus(
                paths.toString(),
                place + ", " + waitingObjects + " more",
                OptionalLong.empty(),
                OptionalLong.empty(),
                rows,
                perSecond,
                state.retries(),
                state.lastError(),
                waitsFor));
    }

    private void closeCurrent() {
        if (current.isPresent()) {
            Current ends = current.get();
            current = Optional.empty();
            doneBytes += ends.object().bytes();
            try {
                ends.reader().close();
            } finally {
                LocalCopies.remove(ends.file());
            }
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            try {
                closeCurrent();
            } finally {
                fetcher.close();
            }
        }
    }
}
