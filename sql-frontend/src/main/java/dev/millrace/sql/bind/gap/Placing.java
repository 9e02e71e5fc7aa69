package dev.millrace.sql.bind.gap;

import java.util.Map;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.util.SqlShuttle;

/** Puts what was written in the places of names. */
public final class Placing extends SqlShuttle {
    private final Map<String, SqlNode> places;

    public Placing(Map<String, SqlNode> places) {
        this.places = places;
    }

    @Override
    public SqlNode visit(SqlIdentifier name) {
        return name.isSimple() ? places.getOrDefault(name.getSimple(), name) : name;
    }
}
