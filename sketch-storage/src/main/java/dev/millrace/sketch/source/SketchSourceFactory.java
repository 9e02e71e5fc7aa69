package dev.millrace.sketch.source;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceFactory;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.Schema;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** The source {@code sketch}: files that {@code ./millrace sketch encode} wrote, or any other encoder. */
public final class SketchSourceFactory implements SourceFactory {
    @Override
    public String name() {
        return "sketch";
    }

    @Override
    public Source create(Schema declared, Options options) {
        List<Path> paths = Arrays.stream(options.required("path").split(","))
                .map(part -> Path.of(part.trim()))
                .toList();
        options.rejectUnread();
        SketchSource source = SketchSource.of(paths);
        if (declared.size() > 0 && !isAlike(declared, source.schema())) {
            throw MillraceException.user(
                            SqlState.DATATYPE_MISMATCH,
                            paths.get(0) + " has the columns " + text(source.schema()) + ", and declared are "
                                    + text(declared))
                    .withHint("Declare none: the file says what they are.");
        }
        return source;
    }

    /** Whether names and types are the same. */
    private static boolean isAlike(Schema declared, Schema schema) {
        return text(declared).equals(text(schema));
    }

    private static String text(Schema schema) {
        return String.join(
                ", ",
                schema.fields().stream()
                        .map(field -> field.name() + " " + field.type())
                        .toList());
    }

    @Override
    public List<OptionDescription> options() {
        return List.of(new OptionDescription(
                "path", "", "one file of sketches, or several of the same features, separated by commas"));
    }
}
