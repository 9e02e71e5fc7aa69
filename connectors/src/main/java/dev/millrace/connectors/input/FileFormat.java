package dev.millrace.connectors.input;

import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** How files of one format and one set of columns are read. Immutable, safe on any thread. */
public interface FileFormat {
    /**
     * Looks whether a file can have the columns, before anything is read.
     *
     * @throws dev.millrace.error.MillraceException when it lacks one, or cannot be opened
     */
    void check(Path file);

    /** Readers that together give every row of the files once, at least one and at most as many as are asked for. */
    List<FileRows> open(List<Path> files, ScanRequest request, SourceContext context);

    /**
     * A reader that goes on where one that {@link #open} gave was.
     *
     * @param now where a file is that had this path
     * @throws dev.millrace.error.MillraceException 55000 or 58030 if a file is another now, or gone
     */
    default FileRows reopen(
            SourcePosition position, UnaryOperator<Path> now, ScanRequest request, SourceContext context) {
        throw MillraceException.user(
                SqlState.FEATURE_NOT_SUPPORTED, "files of this format are not read on from a position");
    }

    /** A reader of one file that goes on when the file grows. */
    FileRows follow(Path file, ScanRequest request, SourceContext context);

    /** Deals what there is to read out to readers: to at least one and at most so many. */
    static <T> List<List<T>> shares(List<T> all, int parallelism) {
        int count = Math.max(1, Math.min(parallelism, all.size()));
        List<List<T>> shares = new ArrayList<>();
        for (int reader = 0; reader < count; reader++) {
            List<T> share = new ArrayList<>();
            for (int i = reader; i < all.size(); i += count) {
                share.add(all.get(i));
            }
            shares.add(share);
        }
        return shares;
    }
}
