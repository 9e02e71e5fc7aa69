package dev.millrace.server.suite;

import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * A tiny TPC-H database, each row as the text of its VALUES. Shapes are dbgen's (keys, dates that follow each other, a third
 * of the customers without orders), but what the queries ask for is common enough that each finds something.
 */
final class TpchRows {
    private static final List<String> REGIONS = List.of("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST");
    private static final List<String> NATIONS = List.of(
            "ALGERIA 0",
            "ARGENTINA 1",
            "BRAZIL 1",
            "CANADA 1",
            "EGYPT 4",
            "ETHIOPIA 0",
            "FRANCE 3",
            "GERMANY 3",
            "INDIA 2",
            "INDONESIA 2",
            "IRAN 4",
            "IRAQ 4",
            "JAPAN 2",
            "JORDAN 4",
            "KENYA 0",
            "MOROCCO 0",
            "MOZAMBIQUE 0",
            "PERU 1",
            "CHINA 2",
            "ROMANIA 3",
            "SAUDI ARABIA 4",
            "VIETNAM 2",
            "RUSSIA 3",
            "UNITED KINGDOM 3",
            "UNITED STATES 1");
    /** Those that queries name, by key. */
    private static final int[] ASKED_NATIONS = {2, 3, 3, 6, 7, 8, 18, 20};

    private static final int SUPPLIERS = 24;
    private static final int CUSTOMERS = 60;
    private static final int PARTS = 60;
    private static final int ORDERS = 260;

    private final Random random;
    private final Map<String, List<String>> rows = new LinkedHashMap<>();
    private final List<int[]> suppliersOfPart = new ArrayList<>();

    TpchRows(long seed) {
        random = new Random(seed);
        for (int i = 0; i < REGIONS.size(); i++) {
            add("region", i, text(REGIONS.get(i)));
        }
        for (int i = 0; i < NATIONS.size(); i++) {
            String nation = NATIONS.get(i);
            int space = nation.lastIndexOf(' ');
            add("nation", i, text(nation.substring(0, space)), nation.substring(space + 1));
        }
        suppliers();
        customers();
        parts();
        orders();
    }

    /** The rows of each table. */
    Map<String, List<String>> rows() {
        return rows;
    }

    private void add(String table, Object... values) {
        List<String> texts = new ArrayList<>();
        for (Object value : values) {
            texts.add(value.toString());
        }
        rows.computeIfAbsent(table, name -> new ArrayList<>()).add("(" + String.join(", ", texts) + ")");
    }

    private static String text(String value) {
        return "'" + value + "'";
    }

    private static String date(LocalDate date) {
        return "DATE '" + date + "'";
    }

    private static String money(int cents) {
        return String.format(Locale.ROOT, "%d.%02d", cents / 100, Math.abs(cents % 100));
    }

    private int between(int from, int to) {
        return from + random.nextInt(to - from + 1);
    }

    private boolean percent(int percent) {
        return random.nextInt(100) < percent;
    }

    private String one(String... of) {
        return of[random.nextInt(of.length)];
    }

    private int nation() {
        return percent(70) ? ASKED_NATIONS[random.nextInt(ASKED_NATIONS.length)] : random.nextInt(NATIONS.size());
    }

    private static String phone(int nation, int key) {
        return text((nation + 10) + "-" + (100 + key % 900) + "-555-" + (1000 + key));
    }

    private void suppliers() {
        for (int key = 1; key <= SUPPLIERS; key++) {
            int nation = nation();
            String comment = percent(12) ? "the Customer had many Complaints" : "quick deliveries";
            add(
                    "supplier",
                    key,
                    text("Supplier#" + key),
                    text("street " + key),
                    nation,
                    phone(nation, key),
                    money(between(-99_999, 999_999)),
                    text(comment));
        }
    }

    private void customers() {
        for (int key = 1; key <= CUSTOMERS; key++) {
            int nation = nation();
            String segment = one("BUILDING", "BUILDING", "AUTOMOBILE", "MACHINERY", "HOUSEHOLD", "FURNITURE");
            add(
                    "customer",
                    key,
                    text("Customer#" + key),
                    text("road " + key),
                    nation,
                    phone(nation, key),
                    money(between(-99_999, 999_999)),
                    text(segment),
                    text("slyly bold " + key));
        }
    }

    private void parts() {
        for (int key = 1; key <= PARTS; key++) {
            String[] brands = {"12", "23", "34", "45"};
            String[] sizes = {"SM", "MED", "LG", "JUMBO"};
            int kind = random.nextInt(4);
            String container = sizes[percent(80) ? kind : random.nextInt(4)] + " "
                    + one("CASE", "BOX", "BOX", "PACK", "PKG", "BAG");
            String type = percent(30)
                    ? "ECONOMY ANODIZED STEEL"
                    : one("PROMO", "STANDARD", "MEDIUM", "LARGE", "SMALL") + " "
                            + one("POLISHED", "BURNISHED", "PLATED") + " " + one("BRASS", "BRASS", "TIN", "COPPER");
            int[] sizesAsked = {3, 9, 14, 15, 15, 15, 19, 23, 36, 45, 49};
            add(
                    "part",
                    key,
                    text(one("forest", "forest", "green", "azure") + " " + one("green", "linen", "peru")),
                    text("Manufacturer#" + between(1, 5)),
                    text("Brand#" + brands[kind]),
                    text(type),
                    sizesAsked[random.nextInt(sizesAsked.length)],
                    text(container),
                    money(90_000 + 10 * key));
            Set<Integer> suppliers = new LinkedHashSet<>();
            while (suppliers.size() < 4) {
                suppliers.add(between(1, SUPPLIERS));
            }
            suppliersOfPart.add(suppliers.stream().mapToInt(Integer::intValue).toArray());
            for (int supplier : suppliers) {
                add("partsupp", key, supplier, between(1, 200), money(between(100, 100_000)));
            }
        }
    }

    /** Half of the dates are where queries look: the years 1993 to 1996, and the quarters that some name. */
    LocalDate orderDate() {
        if (percent(40)) {
            return LocalDate.of(1992, 1, 1).plusDays(random.nextInt(2400));
        }
        LocalDate from = LocalDate.parse(
                one("1993-07-01", "1993-10-01", "1994-01-01", "1994-06-01", "1995-01-01", "1995-08-01", "1995-12-01"));
        return from.plusDays(random.nextInt(90));
    }

    private void orders() {
        for (int key = 1; key <= ORDERS; key++) {
            int customer = between(1, CUSTOMERS);
            while (customer % 3 == 0) {
                customer = between(1, CUSTOMERS);
            }
            LocalDate ordered = orderDate();
            String comment = percent(15) ? "special packing requests" : "carefully final";
            add(
                    "orders",
                    key,
                    customer,
                    text(one("F", "F", "O", "P")),
                    money(between(100_000, 40_000_000)),
                    date(ordered),
                    text(one("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW")),
                    0,
                    text(comment));
            int lines = between(1, 7);
            for (int line = 1; line <= lines; line++) {
                lineitem(key, line, ordered);
            }
        }
    }

    private void lineitem(int order, int line, LocalDate ordered) {
        int part = between(1, PARTS);
        int supplier = suppliersOfPart.get(part - 1)[random.nextInt(4)];
        int quantity = between(1, 50);
        LocalDate shipped = ordered.plusDays(between(1, 121));
        LocalDate promised = ordered.plusDays(between(30, 90));
        LocalDate received = shipped.plusDays(between(1, 30));
        add(
                "lineitem",
                order,
                part,
                supplier,
                line,
                quantity,
                money(quantity * between(90_000, 110_000)),
                "0.0" + random.nextInt(10),
                "0.0" + random.nextInt(9),
                text(one("R", "A", "N")),
                text(one("O", "F")),
                date(shipped),
                date(promised),
                date(received),
                text(one("DELIVER IN PERSON", "DELIVER IN PERSON", "COLLECT COD", "NONE")),
                text(one("AIR", "AIR REG", "MAIL", "SHIP", "TRUCK")));
    }

    /** A statement that changes or deletes some rows, whatever rows there are. */
    String change() {
        int order = between(1, ORDERS);
        int part = between(1, PARTS);
        return switch (random.nextInt(12)) {
            case 0 -> "DELETE FROM lineitem WHERE l_orderkey = " + order + " AND l_linenumber > " + between(1, 5);
            case 1 -> "DELETE FROM orders WHERE o_orderkey = " + order;
            case 2 -> "UPDATE orders SET o_orderdate = " + date(orderDate()) + " WHERE o_orderkey = " + order;
            case 3 -> "UPDATE orders SET o_custkey = " + between(1, CUSTOMERS) + " WHERE o_orderkey = " + order;
            case 4 -> "UPDATE lineitem SET l_quantity = " + between(1, 50) + " WHERE l_partkey = " + part;
            case 5 -> "UPDATE lineitem SET l_suppkey = " + between(1, SUPPLIERS) + " WHERE l_orderkey = " + order;
            case 6 -> "UPDATE part SET p_size = " + one("15", "49", "14", "50") + " WHERE p_partkey = " + part;
            case 7 -> "UPDATE customer SET c_acctbal = c_acctbal - 500 WHERE c_custkey = " + between(1, CUSTOMERS);
            case 8 -> "UPDATE supplier SET s_nationkey = " + nation() + " WHERE s_suppkey = " + between(1, SUPPLIERS);
            case 9 -> "UPDATE partsupp SET ps_availqty = " + between(1, 200) + " WHERE ps_partkey = " + part;
            case 10 ->
                "UPDATE supplier SET s_comment = 'one Customer, two Complaints' WHERE s_suppkey = "
                        + between(1, SUPPLIERS);
            default -> "DELETE FROM customer WHERE c_custkey = " + between(1, CUSTOMERS);
        };
    }

    /** All rows as statements of a few rows each, in any order. */
    List<String> inserts() {
        List<String> statements = new ArrayList<>();
        rows.forEach((table, all) -> {
            List<String> shuffled = new ArrayList<>(all);
            Collections.shuffle(shuffled, random);
            for (int from = 0; from < shuffled.size(); ) {
                int to = Math.min(shuffled.size(), from + between(1, 60));
                statements.add("INSERT INTO " + table + " VALUES " + String.join(", ", shuffled.subList(from, to)));
                from = to;
            }
        });
        Collections.shuffle(statements, random);
        return statements;
    }
}
