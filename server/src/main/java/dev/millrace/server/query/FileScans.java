package dev.millrace.server.query;

import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.query.FileRelation;
import dev.millrace.engine.relation.OnError;
import dev.millrace.engine.relation.RejectedRecords;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.tree.Rewriter;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.result.Warning;
import dev.millrace.sql.statement.Query;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * The files that one run of a plan reads: relations of the engine from {@link #in} to {@link #close}, which tells of the records that were
 * left out. Belongs to the session's thread.
 */
public final class FileScans implements AutoCloseable {
    private final Instance database;
    private final Map<String, FileRelation> files;
    private final Consumer<String> notices;
    private final Map<String, String> scanned = new LinkedHashMap<>(); // the engine's names, by those of plans

    /** @param files that plans may read, by the names under which they do */
    FileScans(Instance database, Map<String, FileRelation> files, Consumer<String> notices) {
        this.database = database;
        this.files = Map.copyOf(files);
        this.notices = notices;
    }

    /** @throws MillraceException 0A000 if a query that is kept names files */
    public static void requireNone(Query query, String what) {
        Optional<FileRelation> first = query.files().values().stream().findFirst();
        if (first.isPresent()) {
            throw MillraceException.user(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "files in FROM are read once, and " + what + " may have to read them again: "
                                    + first.get().text())
                    .withHint("CREATE STREAM s WITH (" + options(first.get()) + "), and read s; mode = 'follow' goes on"
                            + " when the files grow");
        }
    }

    private static String options(FileRelation relation) {
        Map<String, String> others = new TreeMap<>(relation.options());
        Map<String, String> all = new LinkedHashMap<>();
        for (String first : new String[] {"connector", "path"}) {
            all.put(first, others.remove(first));
        }
        all.putAll(others);
        return all.entrySet().stream()
                .map(option -> option.getKey() + " = '" + option.getValue().replace("'", "''") + "'")
                .collect(Collectors.joining(", "));
    }

    /** The plan over the engine's relations. */
    PlanNode in(PlanNode plan) {
        return files.isEmpty()
                ? plan
                : Rewriter.rewrite(
                        plan,
                        node -> node instanceof PlanNode.Scan scan && files.containsKey(scan.relation())
                                ? Optional.of(new PlanNode.Scan(
                                        scanned.computeIfAbsent(scan.relation(), this::add),
                                        scan.columns(),
                                        scan.predicates(),
                                        scan.schema()))
                                : Optional.empty());
    }

    private String add(String name) {
        FileRelation relation = relation(name);
        String as = database.ownRowsName(relation.text());
        database.engine()
                .relations()
                .addSource(as, relation.source(), relation.leavesOut() ? OnError.DEAD_LETTER : OnError.FAIL);
        return as;
    }

    private FileRelation relation(String name) {
        return Optional.ofNullable(files.get(name)).orElseThrow();
    }

    @Override
    public void close() {
        scanned.forEach((name, as) -> {
            FileRelation relation = relation(name);
            if (relation.leavesOut()) {
                tell(relation, database.engine().relations().rejected(as));
            }
            database.engine().relations().drop(as);
        });
        scanned.clear();
    }

    private void tell(FileRelation relation, RejectedRecords rejected) {
        if (rejected.count() == 0) {
            return;
        }
        Optional<RejectedRecord> first = rejected.last().stream().findFirst();
        notices.accept(Warning.of(rejected.count()
                + (rejected.count() == 1 ? " record was" : " records were") + " left out of " + relation.text()
                + first.map(record -> "; "
                                + record.origin() + ":" + record.position()
                                + (record.column().isEmpty() ? "" : ", column \"" + record.column() + "\"") + ": "
                                + record.reason())
                        .orElse("")));
    }
}
