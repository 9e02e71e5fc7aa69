-- The eight tables of TPC-H.
CREATE TABLE region (
    r_regionkey INTEGER PRIMARY KEY,
    r_name      TEXT NOT NULL
);
CREATE TABLE nation (
    n_nationkey INTEGER PRIMARY KEY,
    n_name      TEXT NOT NULL,
    n_regionkey INTEGER NOT NULL
);
CREATE TABLE supplier (
    s_suppkey   INTEGER PRIMARY KEY,
    s_name      TEXT NOT NULL,
    s_address   TEXT NOT NULL,
    s_nationkey INTEGER NOT NULL,
    s_phone     TEXT NOT NULL,
    s_acctbal   NUMERIC(15, 2) NOT NULL,
    s_comment   TEXT NOT NULL
);
CREATE TABLE customer (
    c_custkey    INTEGER PRIMARY KEY,
    c_name       TEXT NOT NULL,
    c_address    TEXT NOT NULL,
    c_nationkey  INTEGER NOT NULL,
    c_phone      TEXT NOT NULL,
    c_acctbal    NUMERIC(15, 2) NOT NULL,
    c_mktsegment TEXT NOT NULL,
    c_comment    TEXT NOT NULL
);
CREATE TABLE part (
    p_partkey     INTEGER PRIMARY KEY,
    p_name        TEXT NOT NULL,
    p_mfgr        TEXT NOT NULL,
    p_brand       TEXT NOT NULL,
    p_type        TEXT NOT NULL,
    p_size        INTEGER NOT NULL,
    p_container   TEXT NOT NULL,
    p_retailprice NUMERIC(15, 2) NOT NULL
);
CREATE TABLE partsupp (
    ps_partkey    INTEGER NOT NULL,
    ps_suppkey    INTEGER NOT NULL,
    ps_availqty   INTEGER NOT NULL,
    ps_supplycost NUMERIC(15, 2) NOT NULL,
    PRIMARY KEY (ps_partkey, ps_suppkey)
);
CREATE TABLE orders (
    o_orderkey      INTEGER PRIMARY KEY,
    o_custkey       INTEGER NOT NULL,
    o_orderstatus   TEXT NOT NULL,
    o_totalprice    NUMERIC(15, 2) NOT NULL,
    o_orderdate     DATE NOT NULL,
    o_orderpriority TEXT NOT NULL,
    o_shippriority  INTEGER NOT NULL,
    o_comment       TEXT NOT NULL
);
CREATE TABLE lineitem (
    l_orderkey      INTEGER NOT NULL,
    l_partkey       INTEGER NOT NULL,
    l_suppkey       INTEGER NOT NULL,
    l_linenumber    INTEGER NOT NULL,
    l_quantity      NUMERIC(15, 2) NOT NULL,
    l_extendedprice NUMERIC(15, 2) NOT NULL,
    l_discount      NUMERIC(15, 2) NOT NULL,
    l_tax           NUMERIC(15, 2) NOT NULL,
    l_returnflag    TEXT NOT NULL,
    l_linestatus    TEXT NOT NULL,
    l_shipdate      DATE NOT NULL,
    l_commitdate    DATE NOT NULL,
    l_receiptdate   DATE NOT NULL,
    l_shipinstruct  TEXT NOT NULL,
    l_shipmode      TEXT NOT NULL,
    PRIMARY KEY (l_orderkey, l_linenumber)
);
