package dev.millrace.format;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;

/**
 * Makes what reads and writes one format, named in {@code WITH (format = '...')}. Safe on any thread. Found as a service ({@link
 * java.util.ServiceLoader}) where it does not come with Millrace.
 */
public interface RecordFormatFactory {
    /** The format's name. */
    String name();

    /**
     * Validates options and columns. Reads of the options what is the format's; the transport reads its own, and then refuses those that
     * nobody read.
     *
     * @param declared the columns; never none
     */
    RecordFormat create(Schema declared, Options options);

    /**
     * The columns that records look to have, where none were declared.
     *
     * @param sample empty where the transport has none yet; a format that knows its columns from elsewhere (a schema file, a registry)
     *     needs none
     * @throws dev.millrace.error.MillraceException 42P16 if they cannot be told
     */
    Schema infer(Optional<EncodedRecords> sample, Options options);

    /**
     * Makes encoders of rows of these columns; each sink has its own.
     *
     * @throws dev.millrace.error.MillraceException 0A000 if the format is only read
     */
    RecordEncoder encoder(Schema schema, Options options);

    /** One line per option, for help. */
    List<OptionDescription> options();
}
