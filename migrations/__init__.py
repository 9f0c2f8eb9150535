"""How a database comes by its tables, a revision at a time. ``server.store`` runs them."""
