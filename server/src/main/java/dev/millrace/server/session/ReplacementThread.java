package dev.millrace.server.session;

import dev.millrace.engine.statistic.QueryState;
import dev.millrace.error.MillraceException;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.host.BackgroundThread;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.log.EventLog;
import dev.millrace.server.retention.Backfill;
import dev.millrace.sql.catalog.RelationNames;
import java.util.List;
import java.util.Optional;

/** The thread {@code millrace-replacements}, which has queries that have read the past take the place of others, as their owners. */
final class ReplacementThread implements BackgroundThread.Step, AutoCloseable {
    private static final EventLog LOG = EventLog.named("queries");
    private static final long LOOK_MILLIS = 50;
    private static final long AFTER_REFUSAL_MILLIS = 1_000;

    private final Database database;
    private final BackgroundThread thread;

    ReplacementThread(Database database) {
        this.database = database;
        this.thread = BackgroundThread.start("millrace-replacements", LOOK_MILLIS, this);
    }

    @Override
    public long run() {
        Instance instance = database.instance();
        long next = LOOK_MILLIS;
        if (instance.retained().isFollowed()) {
            for (CatalogObject object : instance.catalog().objects()) {
                Optional<String> replaced = Optional.ofNullable(object.options().get(CatalogObject.REPLACES));
                List<Backfill> backfills = instance.retained().backfillsOf(object.name());
                boolean isDue = !backfills.isEmpty() && backfills.stream().allMatch(Backfill::isOver)
                        || hasFailed(instance, object); // which is said, as all else that it waits for
                if (replaced.isPresent() && isDue && !apply(instance, object, replaced.get())) {
                    next = AFTER_REFUSAL_MILLIS;
                }
            }
        }
        return next;
    }

    @Override
    public long failed(RuntimeException why) {
        LOG.warning("no query takes the place of another", "reason", String.valueOf(why.getMessage()));
        return AFTER_REFUSAL_MILLIS;
    }

    private static boolean hasFailed(Instance instance, CatalogObject object) {
        return instance.standing(object.name())
                .filter(query -> query.state() == QueryState.FAILED)
                .isPresent();
    }

    private boolean apply(Instance instance, CatalogObject object, String replaced) {
        try (Session session = database.session(instance.catalog().roles().owner(object.name()))) {
            session.readLiterally();
            session.execute("ALTER " + object.kind().sqlName() + " " + RelationNames.quoted(replaced)
                            + " APPLY REPLACEMENT " + RelationNames.quoted(object.name()))
                    .drain();
            LOG.info("takes the place", "name", object.name(), "of", replaced);
            return true;
        } catch (MillraceException e) {
            if (instance.replacements().refused(object.name(), e.getMessage())) {
                LOG.warning(
                        "does not take the place yet", "name", object.name(), "of", replaced, "reason", e.getMessage());
            }
            return false;
        }
    }

    @Override
    public void close() {
        thread.close();
    }
}
