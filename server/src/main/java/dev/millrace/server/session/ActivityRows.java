package dev.millrace.server.session;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.server.names.SessionObjects;
import dev.millrace.server.permission.Identity;
import dev.millrace.server.role.Role;
import dev.millrace.server.role.Roles;
import dev.millrace.server.settings.Setting;
import dev.millrace.server.transaction.Transactions;
import java.util.stream.Collectors;

/** The sessions of a database as the role of one of them may see them. */
final class ActivityRows {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final String HIDDEN = "<insufficient privilege>";

    private final Database database;
    private final Identity reader;

    ActivityRows(Database database, Identity reader) {
        this.database = database;
        this.reader = reader;
    }

    /** An array of JSON objects, with the names of {@code pg_stat_activity}'s columns and {@code blocked_by}; what is missing is NULL. */
    String json() {
        ArrayNode all = MAPPER.createArrayNode();
        for (Session session : database.sessions()) {
            add(all.addObject(), session);
        }
        return all.toString();
    }

    private void add(ObjectNode row, Session session) {
        Roles roles = database.catalog().roles();
        String role = session.role();
        Activity.Seen seen = session.steps().activity();
        row.put("datname", Setting.DATABASE.defaultValue())
                .put("pid", session.process())
                .put("usename", role)
                .put("application_name", seen.application());
        roles.find(role).map(Role::id).ifPresent(id -> row.put("usesysid", id));
        row.put("blocked_by", blockedBy(session));
        String current = reader.current();
        boolean may = roles.isSuperuser(current)
                || roles.hasPrivilegesOf(current, role)
                || roles.hasPrivilegesOf(current, Roles.MONITOR);
        if (!may) {
            row.put("query", HIDDEN);
            return;
        }
        seen.client()
                .ifPresent(client -> row.put("client_addr", client.getAddress().getHostAddress())
                        .put("client_port", client.getPort()));
        row.put("state", seen.state()).put("query", seen.query()).put("backend_type", "client backend");
        time(row, "backend_start", seen.startMicros());
        time(row, "xact_start", seen.transactionMicros());
        time(row, "query_start", seen.queryMicros());
        time(row, "state_change", seen.changedMicros());
        if (!seen.isActive()) {
            row.put("wait_event_type", "Client").put("wait_event", "ClientRead");
        } else if (session.steps().transactions().isWaiting()) {
            row.put("wait_event_type", "Lock").put("wait_event", "transactionid");
        }
    }

    /** An array's text: the sessions whose transactions hold rows that this one waits for. */
    private String blockedBy(Session session) {
        Transactions waiting = session.steps().transactions();
        if (!waiting.isWaiting()) {
            return "{}";
        }
        return database.sessions().stream()
                .filter(other -> waiting.isWaitingFor(other.steps().transactions()))
                .map(other -> String.valueOf(other.process()))
                .collect(Collectors.joining(",", "{", "}"));
    }

    private static void time(ObjectNode row, String name, long epochMicros) {
        if (epochMicros != 0) {
            row.put(name, SessionObjects.time(epochMicros));
        }
    }
}
