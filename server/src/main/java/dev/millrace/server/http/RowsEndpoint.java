package dev.millrace.server.http;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.batch.Batch;
import dev.millrace.connector.Options;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.connectors.Connectors;
import dev.millrace.connectors.arrow.ArrowStream;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.session.Session;
import dev.millrace.time.Clock;
import io.netty.buffer.ByteBufInputStream;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;
import org.jspecify.annotations.Nullable;

/**
 * {@code POST /api/v1/streams/NAME/rows}: inserts rows in JSON lines, CSV or Arrow's stream format, read by the rules of the
 * connector {@code file}, whose options the query string may have. What is not a row is counted and reported; the rest is
 * inserted.
 */
final class RowsEndpoint {
    private static final int MOST_REASONS = 100;
    private static final int BATCH_ROWS = 8192;
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final Session session;

    RowsEndpoint(Session session) {
        this.session = session;
    }

    void answer(String name, FullHttpRequest request, QueryStringDecoder target, HttpReply reply) {
        DatabaseCatalog catalog = session.database().catalog();
        CatalogObject relation = catalog.object(name)
                .orElseThrow(() -> DatabaseCatalog.undefined(
                        "relation",
                        name,
                        catalog.objects().stream().map(CatalogObject::name).toList()));
        String format = format(request.headers().get(HttpHeaderNames.CONTENT_TYPE, ""));
        if (format.equals("arrow")) {
            long accepted = insertArrow(name, request);
            session.awaitOwnWrites(); // the client's next request is of another session
            reply.send(HttpResponseStatus.OK, HttpReply.JSON, new Context().report(accepted) + "\n");
            return;
        }
        Map<String, String> options = new LinkedHashMap<>();
        target.parameters().forEach((option, values) -> options.put(option, values.get(0)));
        options.put("format", format);
        @Nullable Path file = null;
        try {
            file = Files.createTempFile("millrace-rows", ".body");
            try (FileChannel out = FileChannel.open(file, StandardOpenOption.WRITE)) {
                request.content().readBytes(out, 0, request.content().readableBytes());
            }
            options.put("path", file.toString());
            insert(relation, options, reply);
        } catch (MillraceException e) {
            throw withoutPath(e, file);
        } catch (IOException e) {
            throw MillraceException.external(SqlState.IO_ERROR, "cannot keep the body: " + e.getMessage(), e);
        } finally {
            delete(file);
        }
    }

    /** Columns by their names, as many as there are; all rows of a batch or none. */
    private long insertArrow(String name, FullHttpRequest request) {
        long accepted = 0;
        try (ArrowStream stream = new ArrowStream(new ByteBufInputStream(request.content()), session.allocator())) {
            while (stream.next()) {
                accepted += session.insert(name, stream.root());
            }
            return accepted;
        } catch (OutOfMemoryException e) {
            throw MillraceException.resources(SqlState.OUT_OF_MEMORY, "out of memory: the batch is too large");
        } catch (IOException e) {
            throw MillraceException.user(
                    SqlState.BAD_COPY_FILE_FORMAT,
                    "the body is not a stream of Arrow batches, after " + accepted + " rows: " + e.getMessage());
        }
    }

    /** Clients know nothing of the file in which their body was kept. */
    private static MillraceException withoutPath(MillraceException error, @Nullable Path file) {
        if (file == null || !error.getMessage().contains(file.toString())) {
            return error;
        }
        String text =
                error.getMessage().replace("file \"" + file + "\"", "the body").replace(file.toString(), "the body");
        MillraceException shown = MillraceException.user(error.sqlState(), text);
        return error.hint().map(shown::withHint).orElse(shown);
    }

    private static void delete(@Nullable Path file) {
        if (file == null) {
            return;
        }
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            file.toFile().deleteOnExit();
        }
    }

    private static String format(String type) {
        String bare = type.replaceAll(";.*", "").strip();
        return switch (bare) {
            case "",
                    QueryEndpoint.JSON_LINES,
                    "application/jsonl",
                    HttpReply.JSON,
                    "application/x-www-form-urlencoded" -> "json";
            case QueryEndpoint.CSV -> "csv";
            case "application/vnd.apache.arrow.stream" -> "arrow";
            default ->
                throw MillraceException.user(
                                SqlState.INVALID_PARAMETER_VALUE, "rows of type \"" + bare + "\" cannot be read")
                        .withHint(QueryEndpoint.JSON_LINES + ", " + QueryEndpoint.CSV
                                + " and application/vnd.apache.arrow.stream can");
        };
    }

    private void insert(CatalogObject relation, Map<String, String> options, HttpReply reply) {
        Source source = Connectors.standard(System.out).source("file").create(relation.schema(), new Options(options));
        List<Integer> columns =
                IntStream.range(0, relation.schema().size()).boxed().toList();
        Context context = new Context();
        long accepted = 0;
        List<SourceReader> readers = source.open(new ScanRequest(columns, List.of(), 1), context);
        try {
            for (SourceReader reader : readers) {
                Optional<Batch> next = reader.poll();
                while (next.isPresent() || !reader.isFinished()) {
                    if (next.isPresent() && next.get().rowCount() > 0) {
                        accepted += session.insert(relation.name(), next.get());
                    } else {
                        next.ifPresent(Batch::close);
                    }
                    next = reader.poll();
                }
            }
        } finally {
            readers.forEach(SourceReader::close);
        }
        session.awaitOwnWrites();
        reply.send(HttpResponseStatus.OK, HttpReply.JSON, context.report(accepted) + "\n");
    }

    /** Counts what is not a row. */
    private final class Context implements SourceContext {
        private final List<RejectedRecord> first = new ArrayList<>();
        private long rejected;

        @Override
        public BufferAllocator allocator() {
            return session.allocator();
        }

        @Override
        public Clock clock() {
            return Clock.system();
        }

        @Override
        public int batchRows() {
            return BATCH_ROWS;
        }

        @Override
        public void wakeUp() {}

        @Override
        public void reject(RejectedRecord record) {
            rejected++;
            if (first.size() < MOST_REASONS) {
                first.add(record);
            }
        }

        ObjectNode report(long accepted) {
            ObjectNode root =
                    MAPPER.createObjectNode().put("accepted", accepted).put("rejected", rejected);
            ArrayNode reasons = root.putArray("reasons");
            for (RejectedRecord record : first) {
                reasons.addObject()
                        .put("line", record.position())
                        .put("column", record.column())
                        .put("sqlstate", record.sqlState().code())
                        .put("reason", record.reason());
            }
            return root;
        }
    }
}
