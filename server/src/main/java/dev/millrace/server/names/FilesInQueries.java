package dev.millrace.server.names;

import dev.millrace.connector.Options;
import dev.millrace.connector.query.FileCall;
import dev.millrace.connector.query.FileRelation;
import dev.millrace.connectors.file.QueriedFiles;
import dev.millrace.server.permission.Permissions;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * What a session's statements find of the files that they name. A statement looks once, however often it is analysed. Belongs to the
 * session's thread; a step that was left behind keeps what it finds for itself.
 */
public final class FilesInQueries {
    private final Permissions permissions;
    private final Options.References references;
    private final Consumer<String> notices;
    private volatile Map<FileCall, FileRelation> found = Map.of(); // written by the session's thread

    public FilesInQueries(Permissions permissions, Options.References references, Consumer<String> notices) {
        this.permissions = permissions;
        this.references = references;
        this.notices = notices;
    }

    /** A statement begins: it sees files as they are now. */
    public void begin() {
        if (!found.isEmpty()) {
            found = Map.of();
        }
    }

    /** See {@link dev.millrace.sql.catalog.Catalog#files}. */
    FileRelation find(FileCall call) {
        Map<FileCall, FileRelation> known = found;
        FileRelation before = known.get(call);
        if (before != null) {
            return before;
        }
        permissions.requireSource(QueriedFiles.options(call));
        FileRelation now = QueriedFiles.find(call, references);
        now.remarks().forEach(notices);
        Map<FileCall, FileRelation> more = new ConcurrentHashMap<>(known);
        more.put(call, now);
        found = more;
        return now;
    }
}
