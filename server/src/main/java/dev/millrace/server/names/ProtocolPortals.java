package dev.millrace.server.names;

import dev.millrace.server.result.StatementResult;
import dev.millrace.type.Schema;
import java.util.Collection;

/** The named portals of a session's protocol, which SQL reads like cursors. Used on the session's thread. */
public interface ProtocolPortals {
    /** One that gives rows. */
    boolean contains(String name);

    Schema schema(String name);

    /** The next rows, at most so many, which others that read the portal do not get any more. */
    StatementResult.Rows fetch(String name, long count);

    void close(String name);

    void closeAll();

    Collection<SessionObjects.OpenCursor> all();
}
