package dev.millrace.connectors.file;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceFactory;
import dev.millrace.connectors.csv.CsvFormat;
import dev.millrace.connectors.csv.CsvInference;
import dev.millrace.connectors.input.FileFormat;
import dev.millrace.connectors.input.FilePaths;
import dev.millrace.type.Schema;
import java.util.List;

/** The source {@code file}. */
public final class FileSourceFactory implements SourceFactory {
    @Override
    public String name() {
        return "file";
    }

    @Override
    public Source create(Schema declared, Options options) {
        FilePaths paths = new FilePaths(options.required("path"));
        FormatName format = options.oneOf("format", FormatName.ofExtension(paths.toString()));
        return csv(declared, paths, options);
    }

    private static Source csv(Schema declared, FilePaths paths, Options options) {
        CsvOptions csv = CsvOptions.read(options, paths.toString());
        Schema schema = declared;
        if (declared.size() == 0) {
            CsvInference.Inferred inferred =
                    CsvInference.infer(paths.list().get(0), csv.dialect(), csv.timestampFormat());
            schema = inferred.schema();
            csv = csv.withHeader(inferred.header());
        }
        FileFormat format = new CsvFormat(csv.columns(schema, options), csv.dialect());
        options.rejectUnread();
        return new FileSource(schema, paths, format);
    }

    @Override
    public List<OptionDescription> options() {
        return List.of();
    }
}
