package dev.millrace.cli.shell;

import dev.millrace.cli.format.ResultFormat;

/**
 * How a shell behaves; the backslash commands change it.
 *
 * @param format of results
 * @param timing whether to say how long each statement took
 * @param keepGoing whether a script goes on after an error
 * @param flushBeforeSelect whether a SELECT waits for all that was accepted, bounded sources to their end included
 * @param quiet whether command tags are left out
 */
record ShellMode(ResultFormat format, boolean timing, boolean keepGoing, boolean flushBeforeSelect, boolean quiet) {
    ShellMode withFormat(ResultFormat newFormat) {
        return new ShellMode(newFormat, timing, keepGoing, flushBeforeSelect, quiet);
    }

    ShellMode withTiming(boolean newTiming) {
        return new ShellMode(format, newTiming, keepGoing, flushBeforeSelect, quiet);
    }

    ShellMode withFlushBeforeSelect(boolean newFlush) {
        return new ShellMode(format, timing, keepGoing, newFlush, quiet);
    }
}
