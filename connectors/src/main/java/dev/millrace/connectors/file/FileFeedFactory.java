package dev.millrace.connectors.file;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.TableFeed;
import dev.millrace.connector.TableFeedFactory;
import dev.millrace.connectors.csv.CsvOptions;
import dev.millrace.connectors.envelope.Envelope;
import dev.millrace.connectors.envelope.EnvelopeFeed;
import dev.millrace.connectors.envelope.EnvelopeFormats;
import dev.millrace.connectors.input.FilePaths;
import dev.millrace.connectors.input.LineFiles;
import dev.millrace.connectors.s3.ObjectName;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.RecordFormat;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Tables that are kept by files of changes, a record on each line: {@code connector = 'file'} of CREATE TABLE. */
public final class FileFeedFactory implements TableFeedFactory {
    private final EnvelopeFormats envelopes;

    public FileFeedFactory(EnvelopeFormats envelopes) {
        this.envelopes = envelopes;
    }

    @Override
    public String name() {
        return "file";
    }

    @Override
    public TableFeed create(String table, Schema declared, List<Integer> key, Options options) {
        String path = options.required("path");
        if (ObjectName.isOne(path)) {
            throw MillraceException.notAvailableYet("objects of changes");
        }
        FilePaths paths = new FilePaths(path);
        boolean isFollowed = options.oneOf("mode", FileSourceFactory.Mode.ONCE) == FileSourceFactory.Mode.FOLLOW;
        if (isFollowed) {
            throw MillraceException.notAvailableYet("following files of changes")
                    .withHint("what is read of files that grow has no position yet; a topic of Kafka has");
        }
        FormatName name = options.oneOf("format", FormatName.ofExtension(paths.toString()));
        boolean isUpsert =
                options.text(Envelope.OPTION).filter("upsert"::equalsIgnoreCase).isPresent();
        if (name != FormatName.JSON || isUpsert) {
            throw MillraceException.user(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            isUpsert
                                    ? "lines of a file have no keys, by which envelope upsert knows rows"
                                    : "files of changes have JSON on each line")
                    .withHint("envelope = 'debezium', format = 'json'");
        }
        int maxRecordBytes = CsvOptions.maxRecordBytes(options);
        RecordFormat format = envelopes.ofTable(key).create(declared, options);
        options.rejectUnread();
        LineFiles lines = new LineFiles(
                format.schema(), (request, context) -> format.decoder(request.columns(), context), maxRecordBytes);
        return new EnvelopeFeed(
                new FileSource(
                        format.schema(),
                        paths,
                        lines,
                        false,
                        FileSource.Order.TIME,
                        Optional.empty(),
                        Optional.empty()),
                paths.toString(),
                declared,
                key);
    }

    @Override
    public List<OptionDescription> options() {
        List<OptionDescription> all = new ArrayList<>(Envelope.DESCRIPTIONS);
        all.add(new OptionDescription(
                "path", "", "a file, a pattern, or several between commas; read in the order of their names"));
        all.add(new OptionDescription("format", "by extension", "json: a record on each line"));
        return List.copyOf(all);
    }
}
