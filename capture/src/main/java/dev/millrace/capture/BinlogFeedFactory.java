package dev.millrace.capture;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.TableFeed;
import dev.millrace.connector.TableFeedFactory;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Tables of MariaDB and MySQL, one connector each. */
public abstract sealed class BinlogFeedFactory implements TableFeedFactory {
    private static final int PORT = 3306;
    private static final long FIRST_SERVER_ID = 5_400;
    private static final long SERVER_IDS = 1 << 20;

    /** {@code connector = 'mariadb-cdc'}. */
    public static final class MariaDb extends BinlogFeedFactory {
        public MariaDb() {
            super("mariadb-cdc", "MariaDB", "io.debezium.connector.mariadb.MariaDbConnector", "");
        }
    }

    /** {@code connector = 'mysql-cdc'}: Debezium's connector for it is not ours to ship, as its driver is under the GPL. */
    public static final class MySql extends BinlogFeedFactory {
        public MySql() {
            super(
                    "mysql-cdc",
                    "MySQL",
                    "io.debezium.connector.mysql.MySqlConnector",
                    "io.debezium:debezium-connector-mysql and com.mysql:mysql-connector-j");
        }
    }

    private final String name;
    private final String title;
    private final String connector;
    private final String jars;

    private BinlogFeedFactory(String name, String title, String connector, String jars) {
        this.name = name;
        this.title = title;
        this.connector = connector;
        this.jars = jars;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public TableFeed create(String table, Schema declared, List<Integer> key, Options options) {
        try {
            Class.forName(connector, false, getClass().getClassLoader());
        } catch (ClassNotFoundException e) {
            throw MillraceException.user(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "Debezium's connector for " + title + " is not on the class path")
                    .withHint("put the jars of " + jars + " into the folder plugins");
        }
        SourceTable source = SourceTable.read(table, declared, key, options, PORT, Optional.empty());
        long serverId = options.integer(
                "server.id", FIRST_SERVER_ID + Math.floorMod(table.hashCode(), SERVER_IDS), 1, 4_294_967_295L);
        options.rejectUnread();
        return new CaptureFeed(table, source, new BinlogUpstream(connector, title, serverId));
    }

    @Override
    public List<OptionDescription> options() {
        List<OptionDescription> all = new ArrayList<>(SourceTable.options(PORT, "its database"));
        all.add(new OptionDescription(
                "server.id",
                "made of the table's name",
                "by which the database knows its replicas: no two have the same"));
        return all;
    }
}
