package dev.millrace.connector;

import dev.millrace.type.Schema;

/**
 * Makes sources of one connector, named in {@code WITH (connector = '...')}. Found as a service ({@link java.util.ServiceLoader}) where it does
 * not come with Millrace.
 */
public interface SourceFactory {
    /** The connector's name. */
    String name();

    /**
     * Validates options and declared columns.
     *
     * @param declared the columns of CREATE STREAM; empty when none were declared, for connectors that know or infer
     *     their columns
     * @throws dev.millrace.error.MillraceException naming the wrong option and what it may be; an unknown option is an
     *     error with a suggestion
     */
    Source create(Schema declared, Options options);

    /** One line per option, for SHOW and help: name, default, meaning. */
    java.util.List<OptionDescription> options();
}
